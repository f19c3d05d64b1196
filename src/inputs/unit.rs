//! Scalar units of TOSCA: `10 GB`, `5 ms`, `2.4 GHz`, `10 Kbps`.

/// What a scalar unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// `scalar-unit.size`, in bytes
    Size,
    /// `scalar-unit.time`, in seconds
    Time,
    /// `scalar-unit.frequency`, in hertz
    Frequency,
    /// `scalar-unit.bitrate`, in bits per second
    Bitrate,
}

/// The measure that a text such as `10 GB` means, in the base unit of its dimension.
pub(super) fn measure(dimension: Dimension, text: &str) -> Option<f64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (scalar, unit) = text.split_at_checked(unit_at)?;
    let scalar: f64 = scalar.trim_end().parse().ok()?;
    Some(scalar * factor(dimension, unit)?)
}

fn factor(dimension: Dimension, unit: &str) -> Option<f64> {
    match dimension {
        Dimension::Size => prefix(unit.to_ascii_lowercase().strip_suffix('b')?, &["k", "m", "g", "t"], true),
        Dimension::Frequency => prefix(unit.strip_suffix("Hz")?, &["k", "M", "G"], false),
        Dimension::Bitrate => {
            let (bits, unit) = match unit.strip_suffix("bps") {
                Some(unit) => (1.0, unit),
                None => (8.0, unit.strip_suffix("Bps")?),
            };
            Some(bits * prefix(unit, &["K", "M", "G", "T"], true)?)
        }
        Dimension::Time => Some(match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        }),
    }
}

/// A power of 1000; with an `i` behind it, where the dimension has those, of 1024.
fn prefix(prefix: &str, prefixes: &[&str], binary: bool) -> Option<f64> {
    let power = |name: &str| prefixes.iter().position(|prefix| *prefix == name).map(|at| at as i32 + 1);
    match prefix.strip_suffix('i') {
        Some(name) if binary => Some(1024_f64.powi(power(name)?)),
        _ if prefix.is_empty() => Some(1.0),
        _ => Some(1000_f64.powi(power(prefix)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_tosca() {
        let cases = [
            (Dimension::Size, "10 GB", Some(1e10)),
            (Dimension::Size, "1KiB", Some(1024.0)),
            (Dimension::Size, "1 kib", Some(1024.0)),
            (Dimension::Size, "1 B", Some(1.0)),
            (Dimension::Size, "10", None),
            (Dimension::Size, "GB", None),
            (Dimension::Size, "1 iB", None),
            (Dimension::Size, "1 s", None),
            (Dimension::Time, "10 ms", Some(0.01)),
            (Dimension::Time, "2 d", Some(172_800.0)),
            (Dimension::Frequency, "2.5 GHz", Some(2.5e9)),
            (Dimension::Frequency, "1 KiHz", None),
            (Dimension::Bitrate, "1 Kbps", Some(1000.0)),
            (Dimension::Bitrate, "1 KiBps", Some(8192.0)),
            (Dimension::Bitrate, "1 kbps", None),
        ];
        for (dimension, text, expected) in cases {
            assert_eq!(measure(dimension, text), expected, "{text}");
        }
    }
}
