//! Which licences are open: what Protected Health Information must never be under (OMS A.1).

/// Returns whether an SPDX expression names an open licence, as an alternative or in part.
pub(super) fn is_open(expression: &str) -> bool {
    let names = expression.split(|c: char| c.is_whitespace() || c == '(' || c == ')');
    names
        .map(str::to_ascii_lowercase)
        .any(|name| OPEN.iter().any(|open| is_of_family(&name, open)))
}

/// SPDX identifiers say the version behind the name: `mpl-2.0`, `bsd-3-clause`.
fn is_of_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|version| version.is_empty() || version.starts_with('-'))
}

/// Families of SPDX identifiers, in lower case, for SPDX compares without regard to it. All of
/// Creative Commons is here: the restricted ones, too, let everyone pass the content on.
const OPEN: &[&str] = &[
    "0bsd",
    "afl",
    "agpl",
    "apache",
    "artistic",
    "beerware",
    "blueoak",
    "bsd",
    "bsl",
    "c-uda",
    "cc",
    "cc0",
    "cddl",
    "cdla",
    "cecill",
    "cpl",
    "dl-de",
    "ecl",
    "epl",
    "etalab",
    "eupl",
    "fdl",
    "gfdl",
    "gpl",
    "hpnd",
    "isc",
    "lgpl",
    "lppl",
    "mit",
    "mpl",
    "ms-pl",
    "ms-rl",
    "mulanpsl",
    "ncsa",
    "nlod",
    "odbl",
    "odc",
    "ofl",
    "ogl",
    "osl",
    "pddl",
    "postgresql",
    "psf",
    "public-domain",
    "python",
    "ruby",
    "unicode",
    "unlicense",
    "upl",
    "vim",
    "w3c",
    "wtfpl",
    "x11",
    "zlib",
    "zpl",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_licences_are_seen_in_every_spelling_and_expression() {
        for open in [
            "CC0-1.0",
            "cc-by-4.0",
            "CC-BY-NC-ND-4.0",
            "MIT",
            "MIT-0",
            "Apache-2.0",
            "GPL-2.0+",
            "GPL-2.0-or-later WITH Classpath-exception-2.0",
            "LicenseRef-proprietary OR MIT",
            "(LicenseRef-a AND (ISC))",
            "Unlicense",
            "ODC-By-1.0",
        ] {
            assert!(is_open(open), "{open}");
        }
    }

    #[test]
    fn closed_and_unknown_licences_are_not_open() {
        for closed in [
            "",
            "proprietary",
            "LicenseRef-MIT",
            "BUSL-1.1",
            "NONE",
            "MITRE",
            "ccc-1",
            "all rights reserved",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
