# The pet store on the embedded store in /data, or on MongoDB with MONGODB_URI. glibc: uWebSockets.js has no build for musl.
#
#   docker build -t petstore .
#   docker run --rm -v petstore:/data petstore init     # prints the first key
#   docker run -d --name petstore -p 127.0.0.1:3000:3000 -v petstore:/data petstore
#   docker logs petstore
#   docker exec petstore node apps/server/dist/main.js keys list

# Debian 13: uWebSockets.js 20.69 needs glibc 2.38. Pin the bytes in both stages by the digest that this prints, as
# node:22.23.3-trixie-slim@sha256:…:
#   docker buildx imagetools inspect node:22.23.3-trixie-slim --format '{{.Manifest.Digest}}'
FROM node:22.23.3-trixie-slim AS build
WORKDIR /app
# Manifests first: packages are fetched again only when one of these changes.
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY .ci/node22/package.json .ci/node22/
COPY apps/examples/package.json apps/examples/
COPY apps/examples/shelter/package.json apps/examples/shelter/
COPY apps/server/package.json apps/server/
COPY packages/bench/package.json packages/bench/
COPY packages/core/package.json packages/core/
COPY packages/embedded-store/package.json packages/embedded-store/
COPY packages/gateway/package.json packages/gateway/
COPY packages/gateway/test/package.json packages/gateway/test/
COPY packages/runtime/package.json packages/runtime/
COPY packages/shared/package.json packages/shared/
COPY packages/testing/package.json packages/testing/
COPY packages/typegen/package.json packages/typegen/
COPY packages/types/package.json packages/types/
# No scripts: the addons bring their binaries.
RUN npm ci --ignore-scripts
COPY apps apps
COPY packages packages
RUN node --conditions=trpc-gateway-source apps/server/scripts/bundle.ts
# Only what runs: the bundle, and the addons that cannot be in it, with the binaries that this Node may load.
RUN mkdir /out \
 && cp -r --parents -t /out \
      apps/server/package.json \
      apps/server/dist \
      node_modules/lmdb/package.json \
      node_modules/lmdb/dist/index.cjs \
      node_modules/@lmdb \
      node_modules/@uwsjs \
      node_modules/uWebSockets.js \
 && find /out -name '*.map' -delete \
 && find /out -name '*.node' \
      ! -path '*/@uwsjs/*' \
      ! -name "uws_linux_$(node -p 'process.arch + "_" + process.versions.modules').node" \
      ! -name "node.abi$(node -p process.versions.modules).glibc.node" \
      -delete

FROM node:22.23.3-trixie-slim
# A store is created by init only: a volume that is not mounted must not become an empty store.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data CREATE_STORE=never
RUN install -d -o node -g node -m 0700 /data
WORKDIR /app
COPY --from=build /out ./
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# Whether the process lives: /healthz, over TLS where it serves that, whatever its certificate says.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["node", "-e", "const s = process.env.TLS_CERT ? 's' : ''; require(`node:http${s}`).get(`http${s}://127.0.0.1:${process.env.PORT || 3000}/healthz`, { rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Node is the first process of the container: it gets the signals, and commands follow as arguments.
ENTRYPOINT ["node", "apps/server/dist/main.js"]
