//! The words of dates and times in ten languages.

/// Months, whole and short.
pub const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep",
    "sept", "oct", "nov", "dec", "januar", "jänner", "februar", "märz", "mai", "juni", "juli",
    "oktober", "dezember", "mär", "okt", "dez", "janvier", "février", "mars", "avril", "juin",
    "juillet", "août", "septembre", "octobre", "novembre", "décembre", "janv", "févr", "avr",
    "juil", "déc", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
    "septiembre", "octubre", "noviembre", "diciembre", "ene", "abr", "ago", "dic", "gennaio",
    "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre", "gen",
    "mag", "giu", "lug", "set", "ott", "januari", "februari", "maart", "mei", "augustus", "maa",
    "janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro", "novembro",
    "dezembro", "fev", "out", "stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca",
    "sierpnia", "września", "października", "listopada", "grudnia", "augusti", "april", "desember",
    "listopad", "grudzień", "styczeń",
];

/// Days of the week, whole.
pub const WEEKDAYS: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag",
    "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag", "lundi",
    "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "lunes", "martes", "miércoles",
    "jueves", "viernes", "sábado", "domingo", "lunedì", "martedì", "mercoledì", "giovedì",
    "venerdì", "sabato", "domenica", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag",
    "zaterdag", "zondag", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira",
    "sexta-feira", "poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota", "niedziela",
    "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日", "mandag", "tirsdag",
];

/// Days of the week, short; only beside a date or a clock.
pub const SHORT_WEEKDAYS: &[&str] = &[
    "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "mo", "di", "mi",
    "do", "fr", "sa", "so", "lun", "mar", "mer", "jeu", "ven", "sam", "dim", "mié", "jue", "vie",
    "sáb", "dom", "gio", "sab", "ma", "wo", "vr", "za", "zo", "seg", "ter", "qua", "qui", "sex",
    "pon", "wt", "śr", "czw", "pt", "sob", "nd", "tir", "ons",
];

/// Days that are named by their distance.
pub const NEAR_DAYS: &[&str] = &[
    "today", "yesterday", "tomorrow", "gestern", "heute", "hier", "aujourd'hui", "demain", "hoy",
    "ayer", "oggi", "ieri", "domani", "gisteren", "vandaag", "hoje", "ontem", "amanhã", "dziś",
    "wczoraj", "jutro", "今日", "昨日", "本日", "明日", "igår",
];

/// Units of time, from seconds to years.
pub const UNITS: &[&str] = &[
    "second", "seconds", "sec", "secs", "s", "minute", "minutes", "min", "mins", "m", "hour",
    "hours", "hr", "hrs", "h", "day", "days", "d", "week", "weeks", "w", "month", "months", "mo",
    "year", "years", "y", "sekunde", "sekunden", "sek", "minuten", "stunde", "stunden", "std",
    "tag", "tage", "tagen", "woche", "wochen", "monat", "monate", "monaten", "jahr", "jahre",
    "jahren", "seconde", "secondes", "heure", "heures", "jour", "jours", "j", "semaine", "semaines",
    "mois", "an", "ans", "segundo", "segundos", "minuto", "minutos", "hora", "horas", "día", "días",
    "semana", "semanas", "mes", "meses", "año", "años", "secondo", "secondi", "minuti", "ora",
    "ore", "giorno", "giorni", "settimana", "settimane", "mese", "mesi", "anno", "anni", "uur",
    "dag", "dagen", "weken", "maand", "maanden", "jaar", "dia", "dias", "mês", "godzin", "godziny",
    "dni", "tygodni", "timer", "dager", "timmar", "dagar",
];

/// Words after an age.
pub const AGO_AFTER: &[&str] = &["ago", "fa", "geleden", "atrás", "temu", "sedan", "siden", "old"];

/// Words before an age.
pub const AGO_BEFORE: &[&str] = &["vor", "hace", "há", "updated", "för"];

/// Words after the hour.
pub const HALVES: &[&str] = &["am", "pm", "uhr", "utc", "gmt", "cet", "est", "pst", "z", "o'clock", "uur"];

/// Words before a build number.
pub const BUILD: &[&str] = &[
    "build", "deploy", "deployed", "deployment", "commit", "rev", "revision", "sha", "hash",
    "node", "buildid",
];
