//! How a host lets an ordinary user make a user namespace: `spec/containment.md` §4. Reported, decides nothing.

use serde::{Deserialize, Serialize};

use crate::AppArmorReading;

/// The answer, from three readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsernsGrant {
    /// `AppArmor` is not enabled, so it restricts nothing.
    ApparmorAbsent,
    /// The restriction is off for every program of this host (`W-SEC-013`).
    RestrictionDisabledHostWide,
    /// A profile of ours confines this process and permits it.
    ProfileConfining,
    /// None of these: the restriction is on and no profile of ours lifts it.
    Withheld,
}

impl UsernsGrant {
    /// The wire name.
    pub const fn wire_name(self) -> &'static str {
        match self {
            Self::ApparmorAbsent => "apparmor_absent",
            Self::RestrictionDisabledHostWide => "restriction_disabled_host_wide",
            Self::ProfileConfining => "profile_confining",
            Self::Withheld => "withheld",
        }
    }
}

/// Reads the grant off three readings, first match; a missing one counts as off.
pub fn userns_grant(reading: &AppArmorReading) -> UsernsGrant {
    let on = |text: &Option<String>| matches!(text.as_deref().map(str::trim), Some("Y" | "1"));
    let ours = |profile: &String| profile.trim().starts_with("mur-sealed");
    if !on(&reading.enabled) {
        UsernsGrant::ApparmorAbsent
    } else if !on(&reading.restrict_unprivileged_userns) {
        UsernsGrant::RestrictionDisabledHostWide
    } else if reading.profile.as_ref().is_some_and(ours) {
        UsernsGrant::ProfileConfining
    } else {
        UsernsGrant::Withheld
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UsernsGrant::{ApparmorAbsent, ProfileConfining, RestrictionDisabledHostWide, Withheld};

    #[test]
    fn the_first_matching_rule_names_the_grant() {
        for (enabled, knob, profile, grant) in [
            (None, None, None, ApparmorAbsent),
            (Some("N"), Some("1"), Some("mur-sealed"), ApparmorAbsent),
            (Some("0"), None, None, ApparmorAbsent),
            (Some("Y"), None, None, RestrictionDisabledHostWide),
            (Some("1"), Some("0"), Some("mur-sealed"), RestrictionDisabledHostWide),
            (Some("Y\n"), Some("1\n"), Some("mur-sealed (enforce)"), ProfileConfining),
            (Some("Y"), Some("1"), Some("mur-sealed-dev (complain)"), ProfileConfining),
            (Some("Y"), Some("1"), Some("unconfined"), Withheld),
            (Some("Y"), Some("1"), None, Withheld),
            (Some("Y"), Some("1"), Some("docker-default (enforce)"), Withheld),
        ] {
            let reading = AppArmorReading {
                enabled: enabled.map(str::to_owned),
                restrict_unprivileged_userns: knob.map(str::to_owned),
                profile: profile.map(str::to_owned),
            };
            assert_eq!(userns_grant(&reading), grant, "{reading:?}");
        }
    }

    #[test]
    fn the_wire_name_is_what_serde_writes() {
        for grant in [ApparmorAbsent, RestrictionDisabledHostWide, ProfileConfining, Withheld] {
            assert_eq!(serde_json::to_value(grant).unwrap(), grant.wire_name());
        }
    }
}
