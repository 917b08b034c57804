//! The one table a block of keys is written as: its struct, its known keys, its defaults, and from
//! them how it is read, rendered and described.

/// Declares a block: each line is a key with its kind, type and default.
///
/// * `required key: T` – must be written and not blank;
/// * `optional key: T` – becomes `Option<T>`, absent is `None`;
/// * `default key: T = value` – absent is `value`.
///
/// `: Default` says that no key is required, so the block of an empty mapping exists. After the keys
/// may follow, in this order: `strict true;` for keys that are refused when unknown, `ignore {…}` keys accepted without a meaning, `retire {…}` keys
/// refused with what stands in their place, `check f;` a check over the whole block, `extra {…}`
/// fields that are no keys.
macro_rules! block {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident : Default {
            $( $(#[doc = $key_doc:literal])* $kind:ident $key:ident : $type:ty $(= $default:expr)? , )*
        }
        $($extras:tt)*
    ) => {
        block! {
            $(#[doc = $doc])*
            pub struct $name {
                $( $(#[doc = $key_doc])* $kind $key : $type $(= $default)? , )*
            }
            $($extras)*
        }
        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: block!(@default $kind $($default)?) ),* }
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $key_doc:literal])* $kind:ident $key:ident : $type:ty $(= $default:expr)? , )*
        }
        $( strict $strict:literal ; )?
        $( ignore { $( $ignored:literal ),* $(,)? } )?
        $( retire { $( $retired:literal => $instead:literal ),* $(,)? } )?
        $( check $check:path ; )?
        $( extra { $( $(#[doc = $extra_doc:literal])* $extra:ident : $extra_type:ty , )* } )?
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $key_doc])* pub $key: block!(@type $kind $type), )*
            $( $( $(#[doc = $extra_doc])* pub $extra: $extra_type, )* )?
        }

        impl $name {
            pub(crate) const KEYS: crate::reader::Keys = crate::reader::Keys {
                known: &[ $( stringify!($key) ),* ],
                strict: block!(@strict $( $strict )?),
                ignored: &[ $( $( $ignored ),* )? ],
                retired: &[ $( $( ($retired, $instead) ),* )? ],
            };
        }

        #[cfg(test)]
        impl crate::sample::Sample for $name {
            fn sample(bytes: &mut crate::sample::Bytes<'_>) -> Self {
                Self {
                    $( $key: crate::sample::Sample::sample(bytes), )*
                    $( $( $extra: crate::sample::Sample::sample(bytes), )* )?
                }
            }
        }

        impl crate::word::Word for $name {
            fn read(
                reader: &mut crate::reader::Reader<'_>,
                id: crate::raw::NodeId,
            ) -> crate::word::Reading<Self> {
                let entries = match reader.open(id, Self::KEYS) {
                    crate::word::Reading::Value(entries) => entries,
                    crate::word::Reading::Absent => return crate::word::Reading::Absent,
                    crate::word::Reading::Refused => return crate::word::Reading::Refused,
                };
                $( let $key = block!(@read $kind reader, entries, $key, $type $(, $default)?); )*
                #[allow(unused_mut, reason = "only a block with a check changes its value")]
                let mut block = Self {
                    $( $key: block!(@take $kind $key, $type), )*
                    $( $( $extra: Default::default(), )* )?
                };
                $( $check(&mut block, reader, &entries); )?
                crate::word::Reading::Value(block)
            }

            fn render(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $( block!(@render $kind self, map, $key, $type $(, $default)?); )*
                serde_json::Value::Object(map)
            }

            fn schema() -> serde_json::Value {
                let mut schema = crate::schema::Block::new(&[ $( $doc ),* ]);
                $( schema.key(
                    stringify!($key),
                    &[ $( $key_doc ),* ],
                    <$type as crate::word::Word>::schema(),
                    block!(@presence $kind $type $(, $default)?),
                ); )*
                $( $( schema.retired($retired); )* )?
                if Self::KEYS.strict {
                    schema.close();
                }
                schema.finish()
            }
        }
    };
    (@type required $type:ty) => { $type };
    (@type default $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };

    (@strict) => { false };
    (@strict $strict:literal) => { $strict };

    (@default default $default:expr) => { $default };
    (@default optional) => { None };

    (@read required $reader:ident, $entries:ident, $key:ident, $type:ty) => {
        $reader.required::<$type>(&$entries, stringify!($key))
    };
    (@read optional $reader:ident, $entries:ident, $key:ident, $type:ty) => {
        $reader.optional::<$type>(&$entries, stringify!($key))
    };
    (@read default $reader:ident, $entries:ident, $key:ident, $type:ty, $default:expr) => {
        $reader.optional::<$type>(&$entries, stringify!($key)).unwrap_or_else(|| $default)
    };

    (@take required $key:ident, $type:ty) => {
        match $key.or_else(<$type as crate::word::Word>::stand_in) {
            Some(value) => value,
            None => return crate::word::Reading::Refused,
        }
    };
    (@take optional $key:ident, $type:ty) => { $key };
    (@take default $key:ident, $type:ty) => { $key };

    (@render required $self:ident, $map:ident, $key:ident, $type:ty) => {
        $map.insert(stringify!($key).to_owned(), crate::word::Word::render(&$self.$key));
    };
    (@render optional $self:ident, $map:ident, $key:ident, $type:ty) => {
        if let Some(value) = &$self.$key {
            $map.insert(stringify!($key).to_owned(), crate::word::Word::render(value));
        }
    };
    (@render default $self:ident, $map:ident, $key:ident, $type:ty, $default:expr) => {
        let default: $type = $default;
        if $self.$key != default {
            $map.insert(stringify!($key).to_owned(), crate::word::Word::render(&$self.$key));
        }
    };

    (@presence required $type:ty) => { crate::schema::Presence::Required };
    (@presence optional $type:ty) => {
        crate::schema::Presence::Optional { nullable: <$type as crate::word::Word>::NULLABLE }
    };
    (@presence default $type:ty, $default:expr) => {{
        let default: $type = $default;
        crate::schema::Presence::Default {
            value: crate::word::Word::render(&default),
            nullable: <$type as crate::word::Word>::NULLABLE,
        }
    }};
}
pub(crate) use block;

/// Declares a value that is one of a few fixed words.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $( $(#[doc = $word_doc:literal])* $variant:ident = $word:literal , )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[doc = $word_doc])* $variant, )*
        }

        impl $name {
            /// Every word, in declaration order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),* ];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word ),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::grammar::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $word => Ok(Self::$variant), )*
                    other => Err(crate::grammar::UnknownWord {
                        found: other.to_owned(),
                        known: &[ $( $word ),* ],
                    }),
                }
            }
        }

        crate::grammar::text_serde!($name);

        #[cfg(test)]
        impl crate::sample::Sample for $name {
            fn sample(bytes: &mut crate::sample::Bytes<'_>) -> Self {
                bytes.pick(Self::ALL)
            }
        }

        impl crate::word::Word for $name {
            fn read(
                reader: &mut crate::reader::Reader<'_>,
                id: crate::raw::NodeId,
            ) -> crate::word::Reading<Self> {
                crate::word::read_word(reader, id, &[ $( $word ),* ])
            }

            fn render(&self) -> serde_json::Value {
                serde_json::Value::String(self.as_str().to_owned())
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"enum": [ $( $word ),* ]})
            }
        }
    };
}
pub(crate) use words;
