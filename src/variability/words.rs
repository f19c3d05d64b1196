//! Declares closed vocabularies: enums whose variants are words of the specification.

/// Declares an enum whose variants have names, with functions between variants and names.
macro_rules! named {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident { $($(#[$about:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility enum $name {
            $($(#[$about])* $variant,)*
        }

        impl $name {
            /// The number of variants.
            pub const COUNT: usize = Self::ALL.len();

            /// All variants, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The names of all variants, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word,)*];

            /// The name of the variant.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = ();

            fn from_str(name: &str) -> Result<Self, ()> {
                Self::ALL.iter().copied().find(|one| one.as_str() == name).ok_or(())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use named;
