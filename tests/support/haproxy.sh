#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# haproxy.sh KEYS SERVER…: prints the balancer's configuration of docs/deployment.md, listening at TACET_FRONT, with the
# certificates of the folder KEYS and these servers (host:port) in place of the page's.
set -eu
keys=$1
shift
cat "$keys/server.pem" "$keys/server.key" >"$keys/front.pem"
{ printf 'defaults\n    mode http\n    timeout connect 2s\n    timeout client 40s\n    timeout server 40s\n'
  awk '/^```haproxy/ { on = 1; next } /^```/ { on = 0 } on' "$(dirname "$0")/../../docs/deployment.md"; } |
    sed -e "s#\*:8443#${TACET_FRONT:?}#" -e "s#/etc/haproxy/tacet.pem#$keys/front.pem#" -e "s#/etc/tacet/ca.pem#$keys/ca.pem#" \
        -e "s#tacet1.example.org:8443#$1#" -e "s#tacet2.example.org:8443#$2#" -e "s#tacet3.example.org:8443#$3#"
