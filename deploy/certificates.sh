#!/bin/sh
# Makes a certificate authority for the cluster, once, and a certificate for each name:
#
#     sh deploy/certificates.sh certificates scheduler worker-1 worker-2 leader
#
# Each name gets a folder with ca.pem, cert.pem and key.pem: copy it to that machine, readable by the user of the service
# only, and name it in FUNDAMENTALS_TLS. Keep ca.key where no machine of the cluster reads it: whoever has it can join.
set -eu
umask 077
folder=$1
shift
days=825
mkdir -p "$folder"
if [ ! -e "$folder/ca.key" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=fundamentals cluster" \
        -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
fi
for name in "$@"; do
    mkdir -p "$folder/$name"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
        -keyout "$folder/$name/key.pem" -out "$folder/$name/request.pem" 2>/dev/null
    openssl x509 -req -days "$days" -in "$folder/$name/request.pem" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" \
        -CAcreateserial -out "$folder/$name/cert.pem" 2>/dev/null
    rm "$folder/$name/request.pem"
    cp "$folder/ca.pem" "$folder/$name/ca.pem"
    echo "$folder/$name"
done
