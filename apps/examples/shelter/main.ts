import { run } from 'trpc-gateway-runtime';
import { shelterService } from './service.ts';

// An empty value means unset.
const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
const { DATA_DIR = 'shelter-data', HOST, MONGODB_DB, MONGODB_URI, PORT = '3002', ADMIN_PORT } = set;
const { ISSUER = '', AUDIENCE = '', JWKS_URI = '', CALLS_PER_MINUTE = '600' } = set;

await run(
  shelterService({
    host: HOST,
    port: Number(PORT),
    adminPort: ADMIN_PORT === undefined ? undefined : Number(ADMIN_PORT),
    dataDir: DATA_DIR,
    mongodbUri: MONGODB_URI,
    database: MONGODB_DB,
    accepts: { issuer: ISSUER, audience: AUDIENCE, jwksUri: JWKS_URI },
    callsPerMinute: Number(CALLS_PER_MINUTE),
  }),
);
