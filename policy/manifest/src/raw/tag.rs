//! Tags: those of the core schema have a meaning, any other is a fault.

use saphyr_parser::{Marker, ScalarStyle, Tag};

use super::Builder;

impl Builder<'_, '_> {
    /// Refuses a tag that has no meaning here; a scalar's tag also decides whether it is plain.
    pub(super) fn check_scalar_tag(
        &mut self,
        tag: Option<&Tag>,
        style: ScalarStyle,
        at: Marker,
    ) -> bool {
        let plain = style == ScalarStyle::Plain;
        match tag {
            None => plain,
            Some(tag) if is_core(tag, "str") || is_non_specific(tag) => false,
            Some(tag) if ["null", "bool", "int", "float"].iter().any(|kind| is_core(tag, kind)) => {
                true
            }
            Some(tag) => {
                self.refuse_tag(tag, at);
                plain
            }
        }
    }

    pub(super) fn check_tag(&mut self, tag: Option<&Tag>, kind: &str, at: Marker) {
        match tag {
            Some(tag) if !is_core(tag, kind) && !is_non_specific(tag) => self.refuse_tag(tag, at),
            Some(_) | None => {}
        }
    }

    fn refuse_tag(&mut self, tag: &Tag, at: Marker) {
        if self.faults.count_if_full() {
            return;
        }
        let message = format!("the tag `{tag}` has no meaning here");
        let fault = self.fault(at, message);
        self.faults.push(fault);
    }
}

fn is_core(tag: &Tag, kind: &str) -> bool {
    tag.is_yaml_core_schema() && tag.suffix == kind
}

fn is_non_specific(tag: &Tag) -> bool {
    (tag.handle == "!" && tag.suffix.is_empty()) || (tag.handle.is_empty() && tag.suffix == "!")
}
