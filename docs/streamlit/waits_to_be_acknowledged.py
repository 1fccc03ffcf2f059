"""Run by `python`. Seen: TCP_NODELAY is 0. Expected: 1.

With 0, the second message of an answer waits until the first was acknowledged: 40 ms on Linux.
asyncio sets it only where a socket says its protocol, and Streamlit's says none.
"""

import asyncio
import socket

from streamlit.web.server.starlette.starlette_server import _bind_socket


async def main() -> None:
    met: asyncio.Queue = asyncio.Queue()
    listens = _bind_socket("127.0.0.1", 0, 1)
    async with await asyncio.start_server(lambda _, one: met.put(one), sock=listens) as server:
        with socket.create_connection(server.sockets[0].getsockname()):
            one = (await met.get()).get_extra_info("socket")
            print("TCP_NODELAY is", one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


asyncio.run(main())
