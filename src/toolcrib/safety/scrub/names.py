"""How much a name promises a secret: `db_password` much, `key` little, `token_count` nothing."""

import re
from functools import lru_cache

NONE, WEAK, SECRET, PASSWORD = 0, 1, 2, 3
NAME_LENGTH = 80

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = _words(
    "password passwd passwort pwd pass passphrase passcode pw passw psk pswd passwrd senha kennwort contrasena mdp"
    " userpass dbpass rootpass mypass adminpass storepass keypass userpassword passwords rootpw bindpw upass httppass"
    " requirepass masterauth sshpass secretpassword pword passwds"
)
_SECRETS = _words(
    "secret token apikey secretkey accesskey privatekey credential credentials creds bearer jwt cookie session"
    " sessionid sessid authtoken authkey accesstoken refreshtoken idtoken apitoken clientsecret secrets salt hmac"
    " authenticator masterkey encryptionkey signingkey sharedkey appkey appsecret usertoken csrftoken xsrf"
    " accountkey sharedaccesskey authorization pat keypair oauthtoken tokensecret consumersecret presharedkey"
    " primarykeysecret botoken webhooksecret passkey otpsecret authcode phpsessid jsessionid sessionkey"
    " connectionstring connstr licensekey licencekey"
)
_WEAK = _words("key keys auth nonce seed sig signature tokens sid otp webhook iv pin cipher hash")
# Alone before a value, these name a provider's key; hosts of code are left out, their hashes are everywhere.
VENDORS = _words(
    "adafruit airtable algolia asana beamer codecov coinbase confluent contentful datadog dropbox easypost etsy fastly"
    " finicity flickr freshbooks gocardless hubspot intercom kraken kucoin launchdarkly linkedin lob mailchimp mailgun"
    " mattermost messagebird netlify newrelic nytimes okta plaid rapidapi sendbird sendgrid snyk squarespace sumologic"
    " telegram travisci trello twilio twitch twitter typeform zendesk heroku cloudflare openai anthropic cohere mistral"
)
# With "key" or the like behind them, these name one too.
_SERVICES = _words(
    "abuseipdb adobe adyen agora airbrake akamai alchemy amplitude anyscale apify assemblyai auth0 baidu bing"
    " binance bitbucket bitly braintree brave braze browserstack bugsnag bunny calendly censys chargebee circleci"
    " clearbit clerk cloudinary coda codacy convertkit coveralls crowdin customerio databricks deepgram deepseek"
    " digitalocean discord docusign doppler dynatrace elevenlabs eleven etherscan exa exchangerate fal fauna figma"
    " finnhub firecrawl fireworks flutterwave foursquare fullstory gemini getresponse giphy gitlab github gitea"
    " gnews google grafana groq helius here hetzner honeybadger honeycomb hunter ibm imgur infura instagram ipinfo"
    " ipstack iterable jina jira klaviyo langfuse langsmith lastfm lemlist linear linode lokalise loggly logdna logz"
    " luma mailerlite mailjet mandrill mapbox mapquest maxmind meraki mixpanel monday moralis mux newsapi nexmo ngrok"
    " notion nvidia onesignal openrouter opencage opensea openweather openweathermap opsgenie optimizely pagerduty"
    " papertrail paypal paystack perplexity pexels pinecone pinata pipedrive pixabay polygon postmark postman posthog"
    " prismic pubnub pusher qdrant quicknode rapid razorpay readme replicate resend rollbar runpod salesforce sanity"
    " sauce scaleway scrapingbee segment semrush sentry serp serpapi serper shodan shopify sinch slack snowflake sonar"
    " spotify sparkpost splunk square statuspage storyblok strava stripe supabase surge tavily telnyx tmdb together"
    " tomtom typesense unsplash upstash urlscan vercel virustotal voyage vonage vultr weatherapi weatherstack webflow"
    " wandb wakatime webex xai yandex yelp youtube zapier zilliz zoom zoho"
)
_ENDINGS = ("password", "passwd", "passphrase", "passwort", "pwd")
_SECRET_ENDINGS = ("secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authident")
# Before "key": these make it a secret, those a plain index or a public thing.
_SECRET_KEYS = _words(
    "api access secret private encryption encrypt encrypted signing sign auth authentication master account shared"
    " service subscription license licence client app application admin webhook deploy ssh aes rsa hmac jwt crypto"
    " cipher storage cookie functions function consumer write server integration security secure site user project"
    " personal web bot token oauth developer dev rest management publishable recaptcha captcha host wifi wireless"
    " preshared bearer vault backup recovery decrypt decryption root super ingest insert team org merchant rails"
    " django flask laravel google aws azure gcp stripe openai anthropic twilio sendgrid mailgun datadog algolia firebase"
    " heroku slack github gitlab maps youtube tls ssl pem fernet session input ansible instrumentation product"
)
_PLAIN_KEYS = _words(
    "public pub primary foreign sort partition cache row object lookup group dict map unique natural composite index"
    " search routing registry hot short arrow any idempotency dedupe dedup translation locale message lang bucket s3"
    " redis event metric span trace label config option json yaml column field store storage_key state react list"
    " context param query sub parent child left right up down enter escape tab function_key press data_key type"
    " kms cmk host_key known event_key header property attribute attr meta ordering order join path url file"
)
_FILLERS = _words(
    "value val str string text plain plaintext raw base b64 enc encoded encrypted default prod production dev test"
    " testing staging stage new old current live sandbox main env var config data hex primary secondary backup admin"
    " root local user clear real v1 v2 v3 ro rw readonly param arg bytes here override confirm confirmation again"
)
_TAILS = _words(
    "id ids name names type types url urls uri uris path paths file files filename dir directory count counts len length"
    " size sizes limit limits max min expiry expires expire expiration ttl timeout regex pattern field fields label"
    " header headers hash hashes sha sha1 sha256 sha512 digest md5 etag integrity checksum commit fingerprint thumbprint"
    " ref refs reference version algorithm algo alg policy policies rule rules required enabled disabled valid invalid"
    " changed updated created at date time age error errors err msg hint help placeholder prompt title desc"
    " description status state mode format encoding class model provider manager server host port endpoint"
    " handler factory generator validator store vault source output element selector column index idx kind prefix"
    " suffix arn usage scope scopes audience issuer bits char chars position offset start end list set map dict array"
    " info metadata meta func function method callback fn check checker strength reset forgot login page form screen"
    " view icon button input css js html py md json yaml yml toml txt log logs cache stream parser lexer izer ized"
    " used uses left remaining total budget per cost price rate bucket window buffer module package plugin extension"
    " bypass only first last next prev not is has get set_at by to for in on of ok rotation rotate days hours minutes"
    " seconds interval period attempts retries retry lines row rows num number no yes flag flags bool boolean"
)
_HEADS = _words(
    "max min num total n count next page continuation sync cursor idempotency pad eos bos unk sep mask cls cancel"
    " cancellation prompt completion input output cached reasoning stop special public csrfless pagination resume change"
    " etag cache no without is has should forgot lost missing invalid expired bad wrong incorrect monthly daily sha"
)
_FACTORS = _words("otp totp hotp mfa 2fa wallet bip39 master")  # a seed of these is a secret
_NOT_PASS = ("bypass", "compass", "surpass", "overpass", "underpass", "trespass", "encompass", "lowpass", "highpass")


def parts(name: str) -> list[str]:
    """The words of a name: snake, kebab, dotted and camel case alike."""
    return [part.lower() for part in _PART.findall(name)]


@lru_cache(maxsize=8192)
def promise(name: str) -> int:
    """What a value beside this name may be: NONE, WEAK, SECRET or PASSWORD."""
    words = parts(name[-NAME_LENGTH:])
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _FILLERS) and not _is_named(words[-1]):
        words.pop()
    if not words:
        return NONE
    if words[-2:] in (["sonar", "login"], ["contribsys", "com"]):
        return SECRET
    before = words[-2] if len(words) > 1 else ""
    if words[-1] == "seed" and before in _FACTORS:
        return SECRET
    level = _key(before) if words[-1] in {"key", "keys"} else _word(words[-1])
    if level == NONE:
        level = _inside(words)
    if level == WEAK and not (VENDORS | _SERVICES).isdisjoint(words):
        level = SECRET
    if level and level < PASSWORD and not _HEADS.isdisjoint(words[:-1]):
        return NONE
    return level


def _is_named(word: str) -> bool:
    return word in _PASSWORDS or word in _SECRETS


def _word(word: str) -> int:
    """What the last word says."""
    if word in _PASSWORDS or word.endswith(_ENDINGS):
        return PASSWORD
    if word.endswith("pass") and not word.endswith(_NOT_PASS):
        return PASSWORD
    if word in _SECRETS or word.endswith(_SECRET_ENDINGS):
        return SECRET
    return WEAK if (word in _WEAK and word != "hash") or word in VENDORS else NONE


def _key(before: str) -> int:
    """What `key` is after this word."""
    if before in _PLAIN_KEYS:
        return NONE
    return SECRET if before in _SECRET_KEYS or before in _SECRETS else WEAK


def _inside(words: list[str]) -> int:
    """A secret's word further in: `DB_PASSWORD_REPLICA` promises less, `password_hint` nothing."""
    if words[-1] in _TAILS:
        return NONE
    best = max((_word(word) for word in words[:-1]), default=NONE)
    if best >= SECRET:
        return best - 1
    joined = "".join(words)
    return SECRET if joined.endswith(_SECRET_ENDINGS) or joined in _SECRETS else NONE
