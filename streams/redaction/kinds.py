"""The kinds of personal data that are found, and what may be done with a field; the settings are made of these."""

from enum import StrEnum


class Kind(StrEnum):
    """What was found; the upper-case name opens the placeholder. Earlier ones win where two overlap."""

    EMAIL = "email"
    IBAN = "iban"
    CARD = "card"
    ID = "national_id"
    PHONE = "phone"
    IP = "ip"
    NAME = "name"


class Handling(StrEnum):
    """What is done with a field before anything is written: as it is, its keyed hash, without finds, or nothing."""

    KEEP = "keep"
    HASH = "hash"
    REDACT = "redact"
    DROP = "drop"


class NationalId(StrEnum):
    """National numbers of persons that can be looked for: the country's letters and the number's own name."""

    US_SSN = "us_ssn"
    US_ITIN = "us_itin"
    GB_NINO = "gb_nino"
    DE_IDNR = "de_idnr"
    FR_NIR = "fr_nir"
    ES_DNI = "es_dni"
    ES_NIE = "es_nie"
    IT_CODICEFISCALE = "it_codicefiscale"
    NL_BSN = "nl_bsn"
    BE_NN = "be_nn"
    CH_AHV = "ch_ahv"
    AT_SVNR = "at_svnr"
    PL_PESEL = "pl_pesel"
    SE_PERSONNUMMER = "se_personnummer"
    DK_CPR = "dk_cpr"
    NO_FODSELSNUMMER = "no_fodselsnummer"
    FI_HETU = "fi_hetu"
    BR_CPF = "br_cpf"
    MX_CURP = "mx_curp"
    IN_AADHAAR = "in_aadhaar"
    IN_PAN = "in_pan"
    CA_SIN = "ca_sin"
    CN_RIC = "cn_ric"
    KR_RRN = "kr_rrn"
    TR_KIMLIK = "tr_kimlik"
