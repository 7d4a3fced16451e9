//! The words of language tags: languages, regions, scripts.
//!
//! Source: ISO 639-1 with the codes it has withdrawn, ISO 3166-1 and ISO 15924. The seven
//! thousand codes of three letters are not listed; any three letters pass for one.

/// What is known about a language tag such as `zh-Hant-TW`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag<'a> {
    /// It is well-formed and its words are known.
    Known,
    /// Its language is not one, or it is not a tag at all.
    Language,
    /// Its script is not one.
    Script(&'a str),
    /// Its region is not one.
    Region(&'a str),
}

/// Reads a language tag, upper and lower case alike.
///
/// Variants and extensions may follow; they are looked at for their form only.
/// Source: BCP 47 (RFC 5646), section 2.1.
#[must_use]
pub fn read(tag: &str) -> Tag<'_> {
    let mut words = tag.split('-').peekable();
    let language = words.next().unwrap_or_default();
    let is_well_formed =
        |it: &str| (1..=8).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphanumeric());
    if !is_language(language) || !tag.split('-').all(is_well_formed) {
        return Tag::Language;
    }
    // Up to three extended languages of three letters.
    while words
        .next_if(|it| it.len() == 3 && it.bytes().all(|it| it.is_ascii_alphabetic()))
        .is_some()
    {}
    if let Some(script) = words.next_if(|it| is_letters(it, 4))
        && !is_listed(SCRIPTS, script)
    {
        return Tag::Script(script);
    }
    match words.next_if(|it| is_letters(it, 2) || is_area(it)) {
        Some(region) if !is_listed(REGIONS, region) && !is_area(region) => Tag::Region(region),
        Some(_) | None => Tag::Known,
    }
}

/// Whether `code` is a language: listed for two letters, any three letters.
#[must_use]
pub fn is_language(code: &str) -> bool {
    is_letters(code, 3) || (is_letters(code, 2) && is_listed(LANGUAGES, code))
}

/// Whether `code` is a country of ISO 3166-1.
#[must_use]
pub fn is_region(code: &str) -> bool {
    is_letters(code, 2) && is_listed(REGIONS, code)
}

/// What was meant by a region that is none.
#[must_use]
pub fn meant_region(code: &str) -> Option<&'static str> {
    let code = code.to_ascii_uppercase();
    MISTAKEN_REGIONS.iter().find(|(wrong, _)| *wrong == code).map(|(_, right)| *right)
}

/// Whether `code` is an area of several countries: three digits, as in `es-419`.
#[must_use]
pub fn is_area(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|it| it.is_ascii_digit())
}

fn is_letters(code: &str, count: usize) -> bool {
    code.len() == count && code.bytes().all(|it| it.is_ascii_alphabetic())
}

fn is_listed(list: &str, code: &str) -> bool {
    list.split(' ').any(|it| it.eq_ignore_ascii_case(code))
}

const LANGUAGES: &str = "\
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy \
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu \
    hy hz ia id ie ig ii ik in io is it iu iw ja ji jv jw ka kg ki kj kk kl km kn ko kr ks ku kv \
    kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr \
    nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq \
    sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi \
    yo za zh zu";

const REGIONS: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ \
    EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW \
    GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY \
    KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV \
    MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY \
    QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG \
    TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM \
    ZW";

const SCRIPTS: &str = "\
    Adlm Afak Aghb Ahom Arab Aran Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Blis Bopo Brah \
    Brai Bugi Buhd Cakm Cans Cari Cham Cher Cirt Copt Cprt Cyrl Cyrs Deva Dsrt Dupl Egyd Egyh \
    Egyp Elba Ethi Geok Geor Glag Goth Gran Grek Gujr Guru Hanb Hang Hani Hano Hans Hant Hatr \
    Hebr Hira Hluw Hmng Hrkt Hung Inds Ital Jamo Java Jpan Jurc Kali Kana Khar Khmr Khoj Kitl \
    Kits Knda Kore Kpel Kthi Lana Laoo Latf Latg Latn Leke Lepc Limb Lina Linb Lisu Loma Lyci \
    Lydi Mahj Mand Mani Marc Maya Mend Merc Mero Mlym Modi Mong Moon Mroo Mtei Mult Mymr Narb \
    Nbat Newa Nkgb Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli Phlp Phlv \
    Phnx Piqd Plrd Prti Qaaa Qabx Rjng Roro Runr Samr Sara Sarb Saur Sgnw Shaw Shrd Sidd Sind \
    Sinh Sora Sund Sylo Syrc Syre Syrj Syrn Tagb Takr Tale Talu Taml Tang Tavt Telu Teng Tfng \
    Tglg Thaa Thai Tibt Tirh Ugar Vaii Visp Wara Wole Xpeo Xsux Yiii Zinh Zmth Zsye Zsym Zxxx \
    Zyyy Zzzz";

/// Regions that people write, and the codes they mean.
const MISTAKEN_REGIONS: [(&str, &str); 6] =
    [("UK", "GB"), ("EN", "GB"), ("JA", "JP"), ("KO", "KR"), ("CS", "CZ"), ("DA", "DK")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_word_by_word() {
        for tag in
            ["en", "EN-gb", "zh-Hant-TW", "zh-yue-HK", "yue", "es-419", "de-CH-1996", "sr-Latn"]
        {
            assert_eq!(read(tag), Tag::Known, "{tag}");
        }
        for tag in ["", "english", "en_US", "xx", "e", "en-", "en--US", "en-$", "*", "12"] {
            assert_eq!(read(tag), Tag::Language, "{tag}");
        }
        assert_eq!(read("en-UK"), Tag::Region("UK"));
        assert_eq!(read("en-xx"), Tag::Region("xx"));
        assert_eq!(read("zh-Hxnt"), Tag::Script("Hxnt"));
    }

    #[test]
    fn every_correction_is_a_correction() {
        for (wrong, right) in MISTAKEN_REGIONS {
            assert!(!is_region(wrong) && is_region(right), "{wrong} {right}");
        }
        assert_eq!(meant_region("uk"), Some("GB"));
    }
}
