"""An SMTP server (aiosmtpd) on a loopback port.

Usage: server.py starttls|tls|none CERTIFICATE FOLDER

CERTIFICATE is a PEM file with key and chain. Mails are written to FOLDER, one file
each with sender, recipient and text. The port is printed when it listens; it ends
when its standard input does.
"""

import asyncio
import itertools
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

USER, PASSWORD = b"alarm@example.com", b"hun/ter2:@?%geheim"
numbers = itertools.count(1)


class Mails:
    def __init__(self, folder):
        self.folder, self.grey = folder, set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 No such mailbox"
        if address.startswith("grey@") and address not in self.grey:
            self.grey.add(address)
            return "450 4.2.0 Greylisted, try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        name = os.path.join(self.folder, "%03d" % next(numbers))
        with open(name + ".part", "wb") as f:
            head = "%s\n%s\n%s\n" % (envelope.mail_from, ",".join(envelope.rcpt_tos), server.transport.get_extra_info("ssl_object") is not None)
            f.write(head.encode() + envelope.content)
        os.rename(name + ".part", name)
        return "250 2.0.0 Ok: queued as " + os.path.basename(name)


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == USER and data.password == PASSWORD
    return AuthResult(success=good, handled=False)


async def main(mode, certificate, folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    mails = Mails(folder)

    def protocol():
        return SMTP(
            mails,
            hostname="mx.example.com",
            tls_context=context if mode == "starttls" else None,
            require_starttls=mode == "starttls",
            auth_required=mode != "none",
            auth_require_tls=mode == "starttls",
            authenticator=authenticate,
            loop=asyncio.get_running_loop(),
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=context if mode == "tls" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


asyncio.run(main(*sys.argv[1:]))
