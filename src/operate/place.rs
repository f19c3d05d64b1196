//! Defines the places where steps run: this machine, and hosts over ssh.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The place where a task runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TaskPlace {
    /// On this machine.
    #[default]
    Here,
    /// On a host over ssh.
    Host(HostAddress),
}

/// A host that ssh reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct HostAddress {
    /// Its name or number.
    pub address: String,
    /// The port, if it is not that of ssh.
    pub port: Option<u16>,
    /// The user, if it is not that of ssh's configuration.
    pub user: Option<String>,
    /// The file of the private key, if it is not that of ssh's configuration.
    pub key: Option<PathBuf>,
}

impl fmt::Display for TaskPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => f.write_str("here"),
            Self::Host(host) => host.fmt(f),
        }
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        f.write_str(&self.address)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The provider of a node for which the template has no operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// This machine.
    Local,
    /// A host that is there already. Without an address that of the node's attributes is taken.
    Host(HostAddress),
    /// A program that makes the node and takes it away.
    Command(PathBuf),
}

/// The providers that the caller names, each for a node, a type of nodes, or what derives from it.
pub type Providers = Vec<(String, Provider)>;

impl FromStr for Provider {
    type Err = String;

    /// Reads `local`, `host:ADDRESS[:PORT][,user=USER][,key=FILE]` or `command:PATH`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "local" => Ok(Self::Local),
            Some(("host", rest)) => rest.parse().map(Self::Host),
            Some(("command", path)) if !path.is_empty() => Ok(Self::Command(path.into())),
            _ => Err(format!(
                "`{text}` is no provider: write `local`, `host:ADDRESS[:PORT][,user=USER][,key=FILE]` or `command:PATH`"
            )),
        }
    }
}

impl FromStr for HostAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let address = parts.next().unwrap_or_default();
        let (address, port) = split_port(address)?;
        // ssh would take a name that begins with `-` for an option.
        if address.starts_with('-') || address.contains(char::is_whitespace) {
            return Err(format!("`{address}` is no address of a host"));
        }
        let mut host = Self { address: address.to_owned(), port, ..Self::default() };
        for part in parts {
            match part.split_once('=') {
                Some(("user", user)) if is_user(user) => host.user = Some(user.to_owned()),
                Some(("key", key)) if !key.is_empty() => host.key = Some(key.into()),
                _ => return Err(format!("a host has `user=USER` and `key=FILE`, not `{part}`")),
            }
        }
        Ok(host)
    }
}

fn is_user(user: &str) -> bool {
    !user.is_empty() && !user.starts_with('-') && !user.contains(['@', ' ', '/'])
}

/// Splits `ADDRESS:PORT`. An address of IPv6 stands in brackets where a port follows.
fn split_port(text: &str) -> Result<(&str, Option<u16>), String> {
    let (address, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => return Ok((address, None)),
        Some((address, rest)) => (address, rest.strip_prefix(':')),
        None if text.matches(':').count() == 1 => match text.split_once(':') {
            Some((address, port)) => (address, Some(port)),
            None => (text, None),
        },
        None => return Ok((text, None)),
    };
    let wrong = || format!("`{text}` has no port between 1 and 65535 behind its `:`");
    let port =
        port.and_then(|port| port.parse().ok()).filter(|port| *port > 0).ok_or_else(wrong)?;
    Ok((address, Some(port)))
}

/// Whether an address means this machine.
pub(super) fn is_here(address: &str) -> bool {
    let number = address.parse::<std::net::IpAddr>();
    address.eq_ignore_ascii_case("localhost") || number.is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_read() {
        let read = |text: &str| {
            text.parse::<Provider>().map(|provider| match provider {
                Provider::Host(host) => format!("{host} {:?}", host.key),
                other => format!("{other:?}"),
            })
        };
        assert_eq!(
            read("host:10.0.0.7:2222,user=ann,key=k").unwrap(),
            "ann@10.0.0.7:2222 Some(\"k\")"
        );
        assert_eq!(read("host:[::1]:22").unwrap(), "::1:22 None");
        assert_eq!(read("host:fe80::7").unwrap(), "fe80::7 None");
        assert_eq!(read("local").unwrap(), "Local");
        for wrong in
            ["", "locale", "host:a:b", "host:-oX", "command:", "host:a,usr=b", "host:a,user=-x"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(
            is_here("127.0.1.1") && is_here("::1") && is_here("LOCALHOST") && !is_here("10.0.0.1")
        );
    }
}
