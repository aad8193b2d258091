//! The words of time of eight languages, as a question has them: folded, phrases before words.
//!
//! Months are in the table of `text`, which marks documents by the same words.

use crate::text::Order;

use super::parse::{Feast, Kind, Unit};

use Kind::{
    After, Ago, Before, BeforeLast, Between, Day, Every, From, In, Last, Next, Number, Of, On,
    Ordered, Ordinal, Part, Plain, Season, Session, Since, This, To, Units, Weekday, Weekend,
};
use Order::{Count, First};
use Unit::{Days, Months, Weeks, Years};

/// The words of a language.
pub(super) struct Words {
    /// A word or a phrase, and what it is.
    pub(super) named: &'static [(&'static str, Kind)],
    /// Words that say neither time nor what is asked for.
    pub(super) plain: &'static str,
    /// Whether a weekday without a preposition is a name, unless it ends the question.
    pub(super) needs_preposition: bool,
}

/// The possessives of the one who asks.
pub(super) const MINE: [&str; 34] = [
    "my",
    "our",
    "mein",
    "meine",
    "meinem",
    "meinen",
    "meines",
    "unser",
    "unsere",
    "unserem",
    "unseren",
    "mon",
    "ma",
    "notre",
    "mi",
    "nuestro",
    "nuestra",
    "mio",
    "mia",
    "nostro",
    "nostra",
    "meu",
    "minha",
    "nosso",
    "nossa",
    "mijn",
    "onze",
    "ons",
    "мои",
    "мой",
    "моем",
    "моего",
    "наш",
    "нашу",
];

const BIRTHDAY: Kind = Kind::Occasion(Feast::Birthday);
const ANNIVERSARY: Kind = Kind::Occasion(Feast::Anniversary);

const LATEST: Kind = Ordered(Order::Last);

// The hours of parts of a day, which may end on the next one.
const MORNING: Kind = Part([4, 12]);
const NOON: Kind = Part([11, 14]);
const AFTERNOON: Kind = Part([12, 18]);
const EVENING: Kind = Part([17, 24]);
const NIGHT: Kind = Part([20, 30]);

#[rustfmt::skip]
pub(super) const LANGUAGES: &[Words] = &[
    Words {
        named: &[
            ("the day before yesterday", Day(-2)), ("day before yesterday", Day(-2)), ("yesterday", Day(-1)),
            ("today", Day(0)), ("tonight", Day(0)), ("tomorrow", Day(1)),
            ("the week before last", BeforeLast(Weeks)), ("the month before last", BeforeLast(Months)),
            ("the year before last", BeforeLast(Years)),
            ("the last time", LATEST), ("last time", LATEST), ("most recently", LATEST), ("most recent", LATEST),
            ("latest", LATEST), ("the first time", Ordered(First)), ("first time", Ordered(First)),
            ("how often", Ordered(Count)), ("how many times", Ordered(Count)),
            ("how long have", Ordered(Count)), ("how long has", Ordered(Count)), ("how long did", Ordered(Count)),
            ("how long ago", LATEST), ("how long has it been since", LATEST),
            ("when did i last", LATEST), ("when did we last", LATEST), ("when did i first", Ordered(First)),
            ("when did we first", Ordered(First)),
            ("last", Last), ("past", Last), ("previous", Last), ("this", This), ("next", Next),
            ("ago", Ago), ("earlier", Plain), ("since", Since), ("before", Before), ("after", After), ("between", Between),
            ("from", From), ("to", To), ("until", To), ("till", To), ("through", To), ("and", To),
            ("every", Every), ("each", Every), ("on", On), ("in", In), ("during", In), ("over", In), ("within", In),
            ("of", Of), ("the", Of), ("early", Of), ("late", Of), ("mid", Of), ("year", Units(Years)),
            ("day", Units(Days)), ("days", Units(Days)), ("week", Units(Weeks)), ("weeks", Units(Weeks)),
            ("month", Units(Months)), ("months", Units(Months)), ("years", Units(Years)),
            ("weekend", Weekend), ("morning", MORNING), ("afternoon", AFTERNOON), ("evening", EVENING), ("night", NIGHT),
            ("spring", Season(3)), ("summer", Season(6)), ("autumn", Season(9)), ("fall", Season(9)), ("winter", Season(12)),
            ("session", Session), ("sessions", Session), ("conversation", Session), ("conversations", Session),
            ("chat", Session), ("chats", Session),
            ("birthday", BIRTHDAY), ("wedding anniversary", ANNIVERSARY), ("anniversary", ANNIVERSARY),
            ("monday", Weekday(0)), ("tuesday", Weekday(1)), ("wednesday", Weekday(2)), ("thursday", Weekday(3)),
            ("friday", Weekday(4)), ("saturday", Weekday(5)), ("sunday", Weekday(6)),
            ("a", Number(1)), ("one", Number(1)), ("two", Number(2)), ("three", Number(3)), ("four", Number(4)),
            ("five", Number(5)), ("six", Number(6)), ("seven", Number(7)), ("eight", Number(8)), ("nine", Number(9)),
            ("ten", Number(10)), ("twelve", Number(12)), ("twenty", Number(20)), ("couple of", Number(2)),
            ("first", Ordinal(1)), ("second", Ordinal(2)), ("third", Ordinal(3)), ("fourth", Ordinal(4)),
            ("fifth", Ordinal(5)), ("sixth", Ordinal(6)), ("seventh", Ordinal(7)), ("eighth", Ordinal(8)),
            ("ninth", Ordinal(9)), ("tenth", Ordinal(10)),
        ],
        plain: "what did do does was were is i we you me us my our it talk talked about discuss discussed say said tell \
            told happen happened happening done doing up been have has had chat chatted chatting mention mentioned \
            summarize summarise summary recap remind at by with s d that things anything everything something go going on \
            there be were can could please all speak spoke",
        needs_preposition: true,
    },
    Words {
        named: &[
            ("vorgestern", Day(-2)), ("gestern", Day(-1)), ("heute", Day(0)), ("ubermorgen", Day(2)),
            ("vorletzte woche", BeforeLast(Weeks)), ("vorletzten monat", BeforeLast(Months)), ("vorletztes jahr", BeforeLast(Years)),
            ("zuletzt", LATEST), ("zum letzten mal", LATEST), ("das letzte mal", LATEST), ("zum ersten mal", Ordered(First)),
            ("das erste mal", Ordered(First)), ("wie oft", Ordered(Count)), ("wie viele male", Ordered(Count)),
            ("wie lange", Ordered(Count)), ("seit wann", Ordered(Count)),
            ("letzte", Last), ("letzten", Last), ("letzter", Last), ("letztes", Last), ("letztem", Last), ("vorige", Last),
            ("vorigen", Last), ("voriges", Last), ("vergangene", Last), ("vergangenen", Last), ("vergangenes", Last),
            ("diese", This), ("diesen", This), ("dieser", This), ("dieses", This), ("diesem", This),
            ("nachste", Next), ("nachsten", Next), ("nachster", Next), ("nachstes", Next),
            ("vor", Ago), ("seit", Since), ("nach", After), ("zwischen", Between), ("von", From), ("bis", To), ("und", To),
            ("jeden", Every), ("jede", Every), ("jedes", Every), ("am", On), ("an", On), ("im", In), ("in", In), ("wahrend", In),
            ("der", Of), ("den", Of), ("des", Of), ("dem", Of), ("die", Of), ("das", Of), ("anfang", Of), ("ende", Of), ("jahr", Units(Years)),
            ("tag", Units(Days)), ("tage", Units(Days)), ("tagen", Units(Days)), ("woche", Units(Weeks)), ("wochen", Units(Weeks)),
            ("monat", Units(Months)), ("monate", Units(Months)), ("monaten", Units(Months)), ("jahre", Units(Years)), ("jahren", Units(Years)),
            ("wochenende", Weekend), ("morgen", MORNING), ("vormittag", MORNING), ("mittag", NOON), ("nachmittag", AFTERNOON),
            ("abend", EVENING), ("nacht", NIGHT), ("fruhling", Season(3)), ("sommer", Season(6)), ("herbst", Season(9)), ("winter", Season(12)),
            ("sitzung", Session), ("sitzungen", Session), ("gesprach", Session), ("gesprache", Session), ("gesprachen", Session),
            ("unterhaltung", Session), ("unterhaltungen", Session),
            ("geburtstag", BIRTHDAY), ("geburtstags", BIRTHDAY), ("hochzeitstag", ANNIVERSARY), ("jahrestag", ANNIVERSARY),
            ("montag", Weekday(0)), ("dienstag", Weekday(1)), ("mittwoch", Weekday(2)), ("donnerstag", Weekday(3)),
            ("freitag", Weekday(4)), ("samstag", Weekday(5)), ("sonnabend", Weekday(5)), ("sonntag", Weekday(6)),
            ("ein", Number(1)), ("eine", Number(1)), ("einen", Number(1)), ("einem", Number(1)), ("einer", Number(1)),
            ("zwei", Number(2)), ("drei", Number(3)), ("vier", Number(4)), ("funf", Number(5)), ("sechs", Number(6)),
            ("sieben", Number(7)), ("acht", Number(8)), ("neun", Number(9)), ("zehn", Number(10)), ("zwolf", Number(12)), ("zwanzig", Number(20)),
            ("erste", Ordinal(1)), ("ersten", Ordinal(1)), ("zweite", Ordinal(2)), ("zweiten", Ordinal(2)),
            ("dritte", Ordinal(3)), ("dritten", Ordinal(3)), ("vierte", Ordinal(4)), ("vierten", Ordinal(4)),
            ("funfte", Ordinal(5)), ("funften", Ordinal(5)),
        ],
        plain: "was habe haben hast hat ich wir du mir uns mein meine unsere unserer besprochen gesprochen geredet reden sprechen uber \
            woruber wovon gesagt sagen gemacht getan passiert geschehen war waren ist erzahlt ging es los alles zusammenfassung \
            erwahnt unterhalten",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("avant hier", Day(-2)), ("hier", Day(-1)), ("aujourd hui", Day(0)), ("demain", Day(1)), ("il y a", Ago),
            ("pour la derniere fois", LATEST), ("la derniere fois", LATEST), ("la premiere fois", Ordered(First)),
            ("pour la premiere fois", Ordered(First)), ("combien de fois", Ordered(Count)),
            ("depuis combien de temps", Ordered(Count)), ("depuis quand", Ordered(Count)),
            ("dernier", Last), ("derniere", Last), ("derniers", Last), ("dernieres", Last), ("passe", Last), ("passee", Last),
            ("precedente", Last), ("precedent", Last), ("cette", This), ("ce", This), ("cet", This), ("ces", This),
            ("prochain", Next), ("prochaine", Next), ("depuis", Since), ("avant", Before), ("apres", After), ("entre", Between),
            ("du", From), ("au", To), ("et", To), ("jusqu", To), ("chaque", Every), ("tous", Every), ("toutes", Every),
            ("en", In), ("pendant", In), ("durant", In), ("dans", In), ("le", On), ("de", Of), ("la", Of), ("l", Of), ("les", Of), ("d", Of),
            ("jour", Units(Days)), ("jours", Units(Days)), ("semaine", Units(Weeks)), ("semaines", Units(Weeks)), ("mois", Units(Months)),
            ("an", Units(Years)), ("ans", Units(Years)), ("annee", Units(Years)), ("annees", Units(Years)), ("week end", Weekend),
            ("matin", MORNING), ("apres midi", AFTERNOON), ("soir", EVENING), ("nuit", NIGHT),
            ("printemps", Season(3)), ("ete", Season(6)), ("automne", Season(9)), ("hiver", Season(12)),
            ("session", Session), ("sessions", Session), ("conversation", Session), ("conversations", Session),
            ("anniversaire", BIRTHDAY), ("anniversaire de mariage", ANNIVERSARY),
            ("lundi", Weekday(0)), ("mardi", Weekday(1)), ("mercredi", Weekday(2)), ("jeudi", Weekday(3)), ("vendredi", Weekday(4)),
            ("samedi", Weekday(5)), ("dimanche", Weekday(6)),
            ("un", Number(1)), ("une", Number(1)), ("deux", Number(2)), ("trois", Number(3)), ("quatre", Number(4)), ("cinq", Number(5)),
            ("six", Number(6)), ("sept", Number(7)), ("huit", Number(8)), ("neuf", Number(9)), ("dix", Number(10)), ("vingt", Number(20)),
            ("premier", Ordinal(1)), ("premiere", Ordinal(1)), ("deuxieme", Ordinal(2)), ("troisieme", Ordinal(3)), ("quatrieme", Ordinal(4)),
        ],
        plain: "de quoi qu est que qui c s avons nous ai je j avez vous parle parles dit discute fait passe il a mon ma mes notre nos \
            a tout raconte resume mentionne",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("anteayer", Day(-2)), ("antes de ayer", Day(-2)), ("ayer", Day(-1)), ("hoy", Day(0)), ("hace", Ago),
            ("la ultima vez", LATEST), ("por ultima vez", LATEST), ("la primera vez", Ordered(First)), ("por primera vez", Ordered(First)),
            ("cuantas veces", Ordered(Count)), ("cuanto tiempo", Ordered(Count)), ("desde cuando", Ordered(Count)), ("con que frecuencia", Ordered(Count)),
            ("ultimo", Last), ("ultima", Last), ("ultimos", Last), ("ultimas", Last), ("pasado", Last), ("pasada", Last), ("anterior", Last),
            ("esta", This), ("este", This), ("estos", This), ("estas", This), ("proximo", Next), ("proxima", Next),
            ("desde", Since), ("antes", Before), ("despues", After), ("entre", Between), ("hasta", To), ("y", To), ("cada", Every), ("todos", Every),
            ("en", In), ("durante", In), ("el", On), ("de", Of), ("del", Of), ("la", Of), ("los", Of), ("las", Of), ("l", Of),
            ("dia", Units(Days)), ("dias", Units(Days)), ("semana", Units(Weeks)), ("semanas", Units(Weeks)), ("mes", Units(Months)),
            ("meses", Units(Months)), ("ano", Units(Years)), ("anos", Units(Years)), ("fin de semana", Weekend),
            ("manana", MORNING), ("tarde", AFTERNOON), ("noche", NIGHT),
            ("primavera", Season(3)), ("verano", Season(6)), ("otono", Season(9)), ("invierno", Season(12)),
            ("sesion", Session), ("sesiones", Session), ("conversacion", Session), ("conversaciones", Session),
            ("cumpleanos", BIRTHDAY), ("aniversario", ANNIVERSARY),
            ("lunes", Weekday(0)), ("martes", Weekday(1)), ("miercoles", Weekday(2)), ("jueves", Weekday(3)), ("viernes", Weekday(4)),
            ("sabado", Weekday(5)), ("domingo", Weekday(6)),
            ("un", Number(1)), ("una", Number(1)), ("dos", Number(2)), ("tres", Number(3)), ("cuatro", Number(4)), ("cinco", Number(5)),
            ("seis", Number(6)), ("siete", Number(7)), ("ocho", Number(8)), ("nueve", Number(9)), ("diez", Number(10)), ("veinte", Number(20)),
            ("primera", Ordinal(1)), ("primer", Ordinal(1)), ("segunda", Ordinal(2)), ("tercera", Ordinal(3)), ("cuarta", Ordinal(4)),
        ],
        plain: "que hablamos hablado sobre hice hicimos paso ha dije dijimos dicho he hemos yo nosotros me nuestra nuestro mi de \
            discutimos contado hecho todo resumen",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("l altro ieri", Day(-2)), ("altro ieri", Day(-2)), ("ieri", Day(-1)), ("oggi", Day(0)), ("domani", Day(1)), ("fa", Ago),
            ("l ultima volta", LATEST), ("la prima volta", Ordered(First)), ("per la prima volta", Ordered(First)), ("quante volte", Ordered(Count)),
            ("da quanto tempo", Ordered(Count)), ("da quando", Ordered(Count)),
            ("scorso", Last), ("scorsa", Last), ("scorsi", Last), ("scorse", Last), ("ultimo", Last), ("ultima", Last), ("ultimi", Last),
            ("ultime", Last), ("passato", Last), ("passata", Last), ("precedente", Last),
            ("questa", This), ("questo", This), ("questi", This), ("queste", This), ("prossimo", Next), ("prossima", Next),
            ("da", Since), ("prima", Before), ("dopo", After), ("tra", Between), ("fra", Between), ("fino", To), ("e", To), ("ogni", Every),
            ("in", In), ("nel", In), ("a", In), ("ad", In), ("durante", In), ("il", On), ("di", Of), ("del", Of), ("la", Of), ("l", Of),
            ("giorno", Units(Days)), ("giorni", Units(Days)), ("settimana", Units(Weeks)), ("settimane", Units(Weeks)), ("mese", Units(Months)),
            ("mesi", Units(Months)), ("anno", Units(Years)), ("anni", Units(Years)), ("fine settimana", Weekend), ("weekend", Weekend),
            ("mattina", MORNING), ("pomeriggio", AFTERNOON), ("sera", EVENING), ("notte", NIGHT),
            ("primavera", Season(3)), ("estate", Season(6)), ("autunno", Season(9)), ("inverno", Season(12)),
            ("sessione", Session), ("sessioni", Session), ("conversazione", Session), ("conversazioni", Session),
            ("compleanno", BIRTHDAY), ("anniversario", ANNIVERSARY),
            ("lunedi", Weekday(0)), ("martedi", Weekday(1)), ("mercoledi", Weekday(2)), ("giovedi", Weekday(3)), ("venerdi", Weekday(4)),
            ("sabato", Weekday(5)), ("domenica", Weekday(6)),
            ("un", Number(1)), ("una", Number(1)), ("due", Number(2)), ("tre", Number(3)), ("quattro", Number(4)), ("cinque", Number(5)),
            ("sei", Number(6)), ("sette", Number(7)), ("otto", Number(8)), ("nove", Number(9)), ("dieci", Number(10)), ("venti", Number(20)),
            ("primo", Ordinal(1)), ("seconda", Ordinal(2)), ("secondo", Ordinal(2)), ("terza", Ordinal(3)), ("quarta", Ordinal(4)),
        ],
        plain: "che cosa di abbiamo parlato ho fatto detto discusso e successo io noi mi nostra mia raccontato tutto riassunto ci",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("anteontem", Day(-2)), ("ontem", Day(-1)), ("hoje", Day(0)), ("amanha", Day(1)), ("atras", Ago), ("ha", Ago),
            ("a ultima vez", LATEST), ("pela ultima vez", LATEST), ("a primeira vez", Ordered(First)), ("quantas vezes", Ordered(Count)),
            ("ha quanto tempo", Ordered(Count)), ("desde quando", Ordered(Count)),
            ("passado", Last), ("passada", Last), ("ultimo", Last), ("ultima", Last), ("ultimos", Last), ("ultimas", Last), ("anterior", Last),
            ("esta", This), ("este", This), ("nesta", This), ("neste", This), ("proximo", Next), ("proxima", Next),
            ("desde", Since), ("antes", Before), ("depois", After), ("entre", Between), ("ate", To), ("e", To), ("cada", Every), ("todos", Every),
            ("em", In), ("durante", In), ("no", On), ("na", On), ("nos", On), ("nas", On), ("de", Of), ("do", Of), ("da", Of),
            ("dia", Units(Days)), ("dias", Units(Days)), ("semana", Units(Weeks)), ("semanas", Units(Weeks)), ("mes", Units(Months)),
            ("meses", Units(Months)), ("ano", Units(Years)), ("anos", Units(Years)), ("fim de semana", Weekend),
            ("manha", MORNING), ("tarde", AFTERNOON), ("noite", NIGHT),
            ("primavera", Season(3)), ("verao", Season(6)), ("outono", Season(9)), ("inverno", Season(12)),
            ("sessao", Session), ("sessoes", Session), ("conversa", Session), ("conversas", Session),
            ("aniversario", BIRTHDAY), ("aniversario de casamento", ANNIVERSARY),
            ("segunda feira", Weekday(0)), ("terca feira", Weekday(1)), ("quarta feira", Weekday(2)), ("quinta feira", Weekday(3)),
            ("sexta feira", Weekday(4)), ("sexta", Weekday(4)), ("sabado", Weekday(5)), ("domingo", Weekday(6)),
            ("um", Number(1)), ("uma", Number(1)), ("dois", Number(2)), ("duas", Number(2)), ("tres", Number(3)), ("quatro", Number(4)),
            ("cinco", Number(5)), ("seis", Number(6)), ("sete", Number(7)), ("oito", Number(8)), ("nove", Number(9)), ("dez", Number(10)),
            ("vinte", Number(20)), ("primeira", Ordinal(1)), ("segunda", Ordinal(2)), ("terceira", Ordinal(3)),
        ],
        plain: "o que sobre falamos eu fiz fizemos aconteceu disse dissemos conversamos nos meu minha nossa discutimos tudo resumo a foi",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("eergisteren", Day(-2)), ("gisteren", Day(-1)), ("vandaag", Day(0)), ("overmorgen", Day(2)), ("geleden", Ago),
            ("voor het laatst", LATEST), ("de laatste keer", LATEST), ("voor het eerst", Ordered(First)), ("de eerste keer", Ordered(First)),
            ("hoe vaak", Ordered(Count)), ("hoe lang", Ordered(Count)), ("sinds wanneer", Ordered(Count)), ("hoeveel keer", Ordered(Count)),
            ("vorige", Last), ("vorig", Last), ("afgelopen", Last), ("laatste", Last), ("deze", This), ("dit", This),
            ("volgende", Next), ("volgend", Next), ("sinds", Since), ("voor", Before), ("na", After), ("tussen", Between), ("van", From),
            ("tot", To), ("en", To), ("elke", Every), ("iedere", Every), ("op", On), ("in", In), ("tijdens", In), ("de", Of), ("het", Of),
            ("dag", Units(Days)), ("dagen", Units(Days)), ("week", Units(Weeks)), ("weken", Units(Weeks)), ("maand", Units(Months)),
            ("maanden", Units(Months)), ("jaar", Units(Years)), ("jaren", Units(Years)), ("weekend", Weekend), ("weekeinde", Weekend),
            ("ochtend", MORNING), ("morgen", MORNING), ("middag", AFTERNOON), ("avond", EVENING), ("nacht", NIGHT),
            ("lente", Season(3)), ("zomer", Season(6)), ("herfst", Season(9)), ("winter", Season(12)),
            ("sessie", Session), ("sessies", Session), ("gesprek", Session), ("gesprekken", Session),
            ("verjaardag", BIRTHDAY), ("trouwdag", ANNIVERSARY),
            ("maandag", Weekday(0)), ("dinsdag", Weekday(1)), ("woensdag", Weekday(2)), ("donderdag", Weekday(3)), ("vrijdag", Weekday(4)),
            ("zaterdag", Weekday(5)), ("zondag", Weekday(6)),
            ("een", Number(1)), ("twee", Number(2)), ("drie", Number(3)), ("vier", Number(4)), ("vijf", Number(5)), ("zes", Number(6)),
            ("zeven", Number(7)), ("acht", Number(8)), ("negen", Number(9)), ("tien", Number(10)), ("twintig", Number(20)),
            ("eerste", Ordinal(1)), ("tweede", Ordinal(2)), ("derde", Ordinal(3)), ("vierde", Ordinal(4)),
        ],
        plain: "wat waar hebben we over gepraat gesproken heb ik gedaan gezegd gebeurd is er besproken wij mijn ons onze verteld alles",
        needs_preposition: false,
    },
    Words {
        named: &[
            ("позавчера", Day(-2)), ("вчера", Day(-1)), ("сегодня", Day(0)), ("завтра", Day(1)), ("назад", Ago),
            ("в последнии раз", LATEST), ("в последний раз", LATEST), ("в первыи раз", Ordered(First)), ("в первый раз", Ordered(First)),
            ("впервые", Ordered(First)), ("сколько раз", Ordered(Count)), ("как часто", Ordered(Count)), ("как долго", Ordered(Count)),
            ("прошлои", Last), ("прошлой", Last), ("прошлом", Last), ("прошлыи", Last), ("прошлый", Last), ("прошлую", Last), ("прошлое", Last),
            ("последнем", Last), ("последнеи", Last), ("последней", Last), ("последние", Last), ("последних", Last),
            ("этои", This), ("этой", This), ("этом", This), ("эту", This), ("этот", This), ("следующеи", Next), ("следующей", Next), ("следующем", Next),
            ("с", Since), ("до", Before), ("после", After), ("между", Between), ("по", To), ("и", To), ("каждыи", Every), ("каждый", Every), ("каждую", Every),
            ("в", On), ("во", On), ("на", In), ("за", In), ("года", Units(Years)), ("году", Units(Years)),
            ("день", Units(Days)), ("дня", Units(Days)), ("днеи", Units(Days)), ("дней", Units(Days)), ("неделя", Units(Weeks)), ("неделю", Units(Weeks)),
            ("неделе", Units(Weeks)), ("недели", Units(Weeks)), ("недель", Units(Weeks)), ("месяц", Units(Months)), ("месяце", Units(Months)),
            ("месяца", Units(Months)), ("месяцев", Units(Months)), ("год", Units(Years)), ("лет", Units(Years)), ("выходные", Weekend), ("выходных", Weekend),
            ("утром", MORNING), ("днем", AFTERNOON), ("вечером", EVENING), ("ночью", NIGHT),
            ("весной", Season(3)), ("веснои", Season(3)), ("летом", Season(6)), ("осенью", Season(9)), ("зимой", Season(12)), ("зимои", Season(12)),
            ("сессия", Session), ("сессии", Session), ("разговор", Session), ("разговоре", Session), ("разговоров", Session), ("беседе", Session),
            ("день рождения", BIRTHDAY), ("дня рождения", BIRTHDAY), ("дне рождения", BIRTHDAY),
            ("годовщина", ANNIVERSARY), ("годовщину", ANNIVERSARY), ("годовщины", ANNIVERSARY),
            ("понедельник", Weekday(0)), ("вторник", Weekday(1)), ("среду", Weekday(2)), ("четверг", Weekday(3)), ("пятницу", Weekday(4)),
            ("субботу", Weekday(5)), ("воскресенье", Weekday(6)),
            ("один", Number(1)), ("одну", Number(1)), ("два", Number(2)), ("две", Number(2)), ("три", Number(3)), ("четыре", Number(4)),
            ("пять", Number(5)), ("шесть", Number(6)), ("семь", Number(7)), ("восемь", Number(8)), ("девять", Number(9)), ("десять", Number(10)),
            ("первом", Ordinal(1)), ("первой", Ordinal(1)), ("первои", Ordinal(1)), ("втором", Ordinal(2)), ("третьем", Ordinal(3)),
        ],
        plain: "о чем чём мы я говорили что делал делала делали было случилось произошло сказал сказала обсуждали со мной наш нашем нашей рассказал",
        needs_preposition: false,
    },
];
