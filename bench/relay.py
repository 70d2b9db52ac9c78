# SPDX-License-Identifier: Apache-2.0
"""Our relay beside nginx as a plain proxy, in front of the same upstream."""

import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

# Name, bytes of an answer, clients, requests. One client for the time a relay adds, many for how much it carries.
LOADS = [("small, one client", 100, 1, 4000), ("small, 32 clients", 100, 32, 32000),
         ("64 KiB, 8 clients", 64 * 1024, 8, 8000), ("1 MiB, 8 clients", 1024 * 1024, 8, 800)]

CONFIG = """
worker_processes 1;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  keepalive_requests 1000000;
  upstream service {{ server 127.0.0.1:{upstream}; keepalive 64; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffer_size 64k;
      proxy_buffers 8 64k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;
    }}
  }}
}}
"""


def find_nginx():
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


class Servers:
    """The upstream, and a proxy of each kind in front of it, for the length of the benchmark."""

    def __init__(self, program):
        self.program = program
        self.processes = []
        self.directory = tempfile.TemporaryDirectory(prefix="berth-bench-relay-")

    def __enter__(self):
        upstream = self.start("--upstream")
        ports = {"direct": upstream, "berth": self.start("--relay", str(upstream))}
        if find_nginx():
            ports["nginx"] = self.start_nginx(upstream)
        return ports

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.directory.cleanup()

    def start(self, *words):
        process = subprocess.Popen([self.program, *words], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return int(process.stdout.readline())

    def start_nginx(self, upstream):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = pathlib.Path(self.directory.name) / "nginx.conf"
        config.write_text(CONFIG.format(directory=self.directory.name, upstream=upstream, port=port))
        process = subprocess.Popen([find_nginx(), "-e", f"{self.directory.name}/error.log", "-c", config])
        self.processes.append(process)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.02)
        raise RuntimeError("nginx did not start")


def measure(program, rounds):
    figures = {name: {} for name, *_ in LOADS}
    figures["load average"] = [os.getloadavg()[0]]
    with Servers(program) as ports:
        for _ in range(rounds):
            for name, size, clients, requests in LOADS:
                for who, port in ports.items():
                    words = [program, "--load", port, size, clients, requests]
                    done = subprocess.run([*map(str, words)], check=True, capture_output=True, text=True)
                    figures[name].setdefault(who, []).append(json.loads(done.stdout))
    figures["load average"].append(os.getloadavg()[0])
    return figures


def middle(rounds, key):
    return statistics.median(each[key] for each in rounds)


def show(figures):
    before, after = figures["load average"]
    print(f"\n{'relay':<20} {'':<8} {'a second':>10} {'MB/s':>9} {'p50, us':>9} {'p99, us':>9}   load {before:.1f} to {after:.1f}")
    for name, *_ in LOADS:
        for who, rounds in figures[name].items():
            print(f"{name:<20} {who:<8} {middle(rounds, 'per_second'):10.0f} {middle(rounds, 'mb_per_second'):9.0f} "
                  f"{middle(rounds, 'p50_us'):9.0f} {middle(rounds, 'p99_us'):9.0f}")
    if "nginx" not in figures[LOADS[0][0]]:
        print("nginx is not installed, so there is nothing to compare with: apt-get install nginx-light")
        return
    alone = figures[LOADS[0][0]]
    added = {who: middle(alone[who], "p50_us") - middle(alone["direct"], "p50_us") for who in ("berth", "nginx")}
    print(f"added p50: {added['berth']:.0f} us beside {added['nginx']:.0f} us, {added['berth'] / added['nginx']:.2f}x nginx's")
    for name, *_ in LOADS[1:]:
        each = figures[name]
        ratio = middle(each["berth"], "per_second") / middle(each["nginx"], "per_second")
        print(f"{name}: {ratio:.2f}x nginx's rate")
