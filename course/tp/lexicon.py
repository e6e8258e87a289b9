"""The words of the English-French corpus: plain tables, one word a line.

`tp.corpus` makes sentences of them. Every English form has one French translation, so that a sentence
has one right answer; where French asks for more than English tells (the gender of "I", of "they"), the
masculine stands by convention. No noun or verb begins with an aspirated h: every h elides.
The tables at the end serve the harder settings only: words with two senses, and other ways to say the same.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun, in English and in French."""
    singular: str
    plural: str
    fr_singular: str
    fr_plural: str
    gender: str   # m or f
    kind: str     # person, animal, food, thing or place


class Adjective(NamedTuple):
    """An adjective, one form in English and five in French."""
    english: str
    m: str
    f: str
    m_plural: str
    f_plural: str
    before_vowel: str   # masculine singular before a vowel: bel, vieil
    place: str          # before or after the noun
    kinds: frozenset    # of nouns


class Verb(NamedTuple):
    """A verb with the forms that the grammar needs, and what stands after it."""
    base: str
    third: str
    past: str
    particle: str       # "at" of "look at"; empty for most
    infinitive: str
    present: tuple      # je, il, nous, vous, ils
    participle: str
    auxiliary: str      # avoir or être
    frame: str          # alone, object, give or to
    objects: tuple      # kinds of nouns


class Pronoun(NamedTuple):
    """A personal pronoun, as subject and as object, in English and in French."""
    subject: str
    object: str
    fr_subject: str
    fr_object: str
    gender: str
    plural: bool
    person: int         # index into the present forms


def _rows(table):
    return [line.split() for line in table.strip().splitlines()]


def _nouns(table):
    return [Noun(*row) for row in _rows(table)]


def _adjectives(table):
    return [Adjective(*row[:-1], frozenset(_KINDS[row[-1]].split())) for row in _rows(table)]


def _verbs(table):
    return [Verb(*(word.replace("-", "") for word in row[:5]), tuple(row[5:10]), *row[10:13],
                 tuple(kind for kinds in row[13:] for kind in _KINDS.get(kinds, kinds).split()))
            for row in _rows(table)]


NOUNS = _nouns("""
girl girls fille filles f person
boy boys garçon garçons m person
man men homme hommes m person
woman women femme femmes f person
child children enfant enfants m person
friend friends ami amis m person
neighbour neighbours voisin voisins m person
sister sisters sœur sœurs f person
brother brothers frère frères m person
mother mothers mère mères f person
father fathers père pères m person
king kings roi rois m person
queen queens reine reines f person
cat cats chat chats m animal
dog dogs chien chiens m animal
bird birds oiseau oiseaux m animal
horse horses cheval chevaux m animal
cow cows vache vaches f animal
mouse mice souris souris f animal
apple apples pomme pommes f food
cake cakes gâteau gâteaux m food
egg eggs œuf œufs m food
pear pears poire poires f food
cheese cheeses fromage fromages m food
book books livre livres m thing
letter letters lettre lettres f thing
car cars voiture voitures f thing
table tables table tables f thing
key keys clé clés f thing
hat hats chapeau chapeaux m thing
dress dresses robe robes f thing
box boxes boîte boîtes f thing
flower flowers fleur fleurs f thing
tree trees arbre arbres m thing
house houses maison maisons f place
garden gardens jardin jardins m place
school schools école écoles f place
church churches église églises f place
village villages village villages m place
forest forests forêt forêts f place
river rivers rivière rivières f place
hotel hotels hôtel hôtels m place
""")

# The nouns that an adjective may stand with, or that may be the object of a verb.
_KINDS = {"all": "person animal food thing place", "living": "person animal", "things": "food thing place",
          "coloured": "animal food thing place", "person": "person"}

ADJECTIVES = _adjectives("""
small petit petite petits petites petit before all
big grand grande grands grandes grand before all
beautiful beau belle beaux belles bel before all
young jeune jeune jeunes jeunes jeune before living
old vieux vieille vieux vieilles vieil before all
new nouveau nouvelle nouveaux nouvelles nouvel before things
good bon bonne bons bonnes bon before all
red rouge rouge rouges rouges rouge after coloured
green vert verte verts vertes vert after coloured
black noir noire noirs noires noir after coloured
white blanc blanche blancs blanches blanc after coloured
happy heureux heureuse heureux heureuses heureux after living
sad triste triste tristes tristes triste after living
strong fort forte forts fortes fort after living
calm calme calme calmes calmes calme after living
rich riche riche riches riches riche after person
""")

VERBS = _verbs("""
sing sings sang - chanter chante chante chantons chantez chantent chanté avoir alone
dance dances danced - danser danse danse dansons dansez dansent dansé avoir alone
sleep sleeps slept - dormir dors dort dormons dormez dorment dormi avoir alone
work works worked - travailler travaille travaille travaillons travaillez travaillent travaillé avoir alone
laugh laughs laughed - rire ris rit rions riez rient ri avoir alone
arrive arrives arrived - arriver arrive arrive arrivons arrivez arrivent arrivé être alone
fall falls fell - tomber tombe tombe tombons tombez tombent tombé être alone
leave leaves left - partir pars part partons partez partent parti être alone
eat eats ate - manger mange mange mangeons mangez mangent mangé avoir object food
buy buys bought - acheter achète achète achetons achetez achètent acheté avoir object food thing
see sees saw - voir vois voit voyons voyez voient vu avoir object all
love loves loved - aimer aime aime aimons aimez aiment aimé avoir object all
find finds found - trouver trouve trouve trouvons trouvez trouvent trouvé avoir object person animal food thing
look looks looked at regarder regarde regarde regardons regardez regardent regardé avoir object all
choose chooses chose - choisir choisis choisit choisissons choisissez choisissent choisi avoir object animal things
help helps helped - aider aide aide aidons aidez aident aidé avoir object person
visit visits visited - visiter visite visite visitons visitez visitent visité avoir object place
follow follows followed - suivre suis suit suivons suivez suivent suivi avoir object person animal
give gives gave - donner donne donne donnons donnez donnent donné avoir give animal food thing
show shows showed - montrer montre montre montrons montrez montrent montré avoir give animal food thing place
sell sells sold - vendre vends vend vendons vendez vendent vendu avoir give animal food thing
talk talks talked - parler parle parle parlons parlez parlent parlé avoir to
write writes wrote - écrire écris écrit écrivons écrivez écrivent écrit avoir to
""")

# English singular and plural; French masculine, feminine, plural. A dash: there is none; _ parts two words.
DETERMINERS = {row[0] if row[0] != "-" else row[1]: row for row in _rows("""
the the le la les
a some un une des
this these ce cette ces
my my mon ma mes
your your votre votre vos
his his son sa ses
her her son sa ses
our our notre notre nos
their their leur leur leurs
every - chaque chaque -
- two - - deux
- three - - trois
- many - - beaucoup_de
""")}

PRONOUNS = [Pronoun(*row[:5], row[5] == "plural", int(row[6])) for row in _rows("""
i me je me m singular 0
he him il le m singular 1
she her elle la f singular 1
we us nous nous m plural 2
you you vous vous m singular 3
they them ils les m plural 4
""")]

PREPOSITIONS = _rows("""
in dans
near près_de
behind derrière
with avec
""")

# Adverbs that stand by the verb: the negations have a "ne" before the verb besides.
NEGATIONS = {"not": "pas", "never": "jamais"}
FREQUENCIES = {"often": "souvent", "always": "toujours", "sometimes": "parfois"}
TIMES = {"present": (("today", "aujourd' hui"), ("now", "maintenant")),
         "past": (("yesterday", "hier"),),
         "future": (("tomorrow", "demain"), ("soon", "bientôt"))}
CONJUNCTIONS = (("and", "et"), ("but", "mais"), ("because", "parce que"))

AVOIR = ("ai", "a", "avons", "avez", "ont")
ETRE = ("suis", "est", "sommes", "êtes", "sont")
ETRE_PAST = ("étais", "était", "étions", "étiez", "étaient")
ALLER = ("vais", "va", "allons", "allez", "vont")
# English third person; French present forms. Only "want" is conjugated with "do".
MODALS = {"can": ("can", ("peux", "peut", "pouvons", "pouvez", "peuvent")),
          "must": ("must", ("dois", "doit", "devons", "devez", "doivent")),
          "want": ("wants", ("veux", "veut", "voulons", "voulez", "veulent"))}
BE = Verb("be", "is", "was", "", "être", ETRE, "été", "avoir", "be", ())

# Nouns with two senses. The place in the sentence decides: only persons and animals sleep, only food is eaten.
TWO_SENSE_NOUNS = _nouns("""
bat bats chauve-souris chauves-souris f animal
bat bats batte battes f thing
seal seals phoque phoques m animal
seal seals sceau sceaux m thing
ruler rulers souverain souverains m person
ruler rulers règle règles f thing
fan fans admirateur admirateurs m person
fan fans ventilateur ventilateurs m thing
chicken chickens poule poules f animal
chicken chickens poulet poulets m food
plant plants plante plantes f thing
plant plants usine usines f place
spring springs source sources f place
spring springs ressort ressorts m thing
""")

# Verbs with two senses: what follows decides.
TWO_SENSE_VERBS = [verb for verb in VERBS if verb.base == "leave"] + _verbs("""
leave leaves left - quitter quitte quitte quittons quittez quittent quitté avoir object place
run runs ran - courir cours court courons courez courent couru avoir alone
run runs ran - diriger dirige dirige dirigeons dirigez dirigent dirigé avoir object place
grow grows grew - grandir grandis grandit grandissons grandissez grandissent grandi avoir alone
grow grows grew - cultiver cultive cultive cultivons cultivez cultivent cultivé avoir object food
return returns returned - revenir reviens revient revenons revenez reviennent revenu être alone
return returns returned - rendre rends rend rendons rendez rendent rendu avoir object thing
walk walks walked - marcher marche marche marchons marchez marchent marché avoir alone
walk walks walked - promener promène promène promenons promenez promènent promené avoir object animal
""")

# What grammar allows and nobody says, or says of something else ("le beau père" is heard as "father-in-law").
POSSESSIVES = {"my", "your", "his", "her", "our", "their"}
NEVER_POSSESSED = {"man", "woman"}
PARENTS = {"mother", "father"}     # with a possessive, there is one
DEFINITE_OBJECT = {"love"}         # "aimer les chats", not "aimer des chats"
NEVER_OBJECTS = {"run": ("river", "forest", "spring"), "grow": ("cake", "egg", "cheese", "chicken"),
                 "walk": ("mouse", "bird", "bat", "seal", "chicken")}
NEVER_TOGETHER = {"mother": ("beautiful", "big"), "father": ("beautiful", "big"), "brother": ("beautiful",),
                  "sister": ("beautiful",), "friend": ("small",), "woman": ("good",), "girl": ("old",),
                  "boy": ("old",), "child": ("old",)}

# Another French word that says the same, by the English word of its entry, or by the French of a small word.
OTHERS = {
    **{entry[0]: entry for entry in (*_nouns("""
car cars auto autos f thing
boy boys gamin gamins m person
child children gosse gosses m person
friend friends copain copains m person
forest forests bois bois m place
hotel hotels auberge auberges f place
house houses demeure demeures f place
key keys clef clefs f thing
letter letters missive missives f thing
village villages bourg bourgs m place
box boxes caisse caisses f thing
river rivers fleuve fleuves m place
"""), *_adjectives("""
beautiful joli jolie jolis jolies joli before all
big gros grosse gros grosses gros before all
happy content contente contents contentes content after living
sad malheureux malheureuse malheureux malheureuses malheureux after living
calm tranquille tranquille tranquilles tranquilles tranquille after living
"""), *_verbs("""
work works worked - bosser bosse bosse bossons bossez bossent bossé avoir alone
see sees saw - apercevoir aperçois aperçoit apercevons apercevez aperçoivent aperçu avoir object all
love loves loved - adorer adore adore adorons adorez adorent adoré avoir object all
find finds found - découvrir découvre découvre découvrons découvrez découvrent découvert avoir object \
person animal food thing
look looks looked at observer observe observe observons observez observent observé avoir object all
"""))},
    "souvent": "fréquemment", "parfois": "quelquefois", "maintenant": "à présent", "bientôt": "sous peu",
    "mais": "pourtant", "parce que": "car", "près_de": "à_côté_de",
}
