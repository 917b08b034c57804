//! The one table a block of keys is written as: its struct, its known keys and its defaults.

/// Declares a block: each line is a key with its kind, type and default.
///
/// * `required key: T` – must be written and not blank;
/// * `optional key: T` – becomes `Option<T>`, absent is `None`;
/// * `default key: T = value` – absent is `value`.
///
/// `: Default` says that no key is required, so the block of an empty mapping exists.
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
        $( extra { $( $(#[doc = $extra_doc:literal])* $extra:ident : $extra_type:ty , )* } )?
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $key_doc])* pub $key: block!(@type $kind $type), )*
            $( $( $(#[doc = $extra_doc])* pub $extra: $extra_type, )* )?
        }
    };
    (@type required $type:ty) => { $type };
    (@type default $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@default default $default:expr) => { $default };
    (@default optional) => { None };
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
    };
}
pub(crate) use words;
