//! `network`: the inbound door. Unrelated to `capabilities.network`.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use crate::block::{block, words};
use crate::grammar::CredentialName;

const DEFAULT_PORT: NonZeroU16 = NonZeroU16::new(14159).expect("14159 is not zero");

block! {
    /// The inbound door.
    pub struct Door: Default {
        /// Port on the inside.
        default internal_port: NonZeroU16 = DEFAULT_PORT,
        /// Who may come in; absent is everybody who reaches the port.
        optional authentication: Authentication,
    }
}

block! {
    /// Who may come in.
    pub struct Authentication {
        /// How callers prove themselves.
        required scheme: AuthenticationScheme,
        /// Named callers.
        default credentials: BTreeMap<CredentialName, DoorCredential> = BTreeMap::new(),
    }
}

words! {
    /// How callers prove themselves.
    pub enum AuthenticationScheme {
        /// A token in the request.
        Bearer = "bearer",
    }
}

block! {
    /// What a named caller may do.
    pub struct DoorCredential: Default {
        /// Door methods it may call.
        default scopes: Vec<String> = Vec::new(),
    }
}
