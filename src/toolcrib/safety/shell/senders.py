"""Which commands carry something off the machine."""

import re

from toolcrib.safety.shell.marks import plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Run

_ALWAYS = frozenset(
    names(
        "nc ncat netcat socat telnet ftp tftp lftp sftp scp ssh rclone mail mailx mutt sendmail msmtp swaks",
        "wput httpie http https xh curlie aria2c dig nslookup host drill ping ping6 logger s3cmd s4cmd gsutil",
        "azcopy mc croc wormhole magic-wormhole transfer ffsend bitsadmin certutil websocat wscat",
        "mosquitto_pub kcat rsync curl wget wget2 axel lynx w3m links elinks openssl whois finger cancel",
        "restic borg Invoke-WebRequest iwr irm",
    )
)
_CLOUD = re.compile(
    r"\b(?:s3 (?:cp|mv|sync)|storage (?:cp|blob|rsync)|gist create|release upload|secretsmanager put)\b"
)


def sends(run: Run) -> bool:
    """Whether the command takes its words or its input to another machine."""
    if run.name in _ALWAYS:
        if run.name == "openssl":
            return run.words[:1] == ["s_client"]
        return run.name != "rsync" or any(":" in word for word in run.words)
    if run.name in {"aws", "gcloud", "az", "gh", "doctl"}:
        return _CLOUD.search(" ".join(plain(word) for word in run.words)) is not None
    return False
