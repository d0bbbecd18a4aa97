#!/usr/bin/env bash
# REST calls with curl. `npm run example curl`
set -euo pipefail
pets="${PETSTORE_URL:-http://127.0.0.1:3000}/v1/pets"
call() { curl --silent --show-error -H "Authorization: Bearer $KEY" "$@" && echo; }

call "$pets" -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1,"status":"available"}'
call "$pets?status=available&limit=10"
call "$pets?limit=1000"

# Sent twice, executed once.
for _ in 1 2; do
  call "$pets" -H 'Idempotency-Key: 5f0c8a4e' -H 'Content-Type: application/json' -d '{"name":"Max","categoryId":1}'
done
