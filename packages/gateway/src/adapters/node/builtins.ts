import type * as Http from 'node:http';
import type * as Https from 'node:https';
import { createRequire } from 'node:module';

// Not imported: Node reads every export of a built-in that is, and so loads undici for these: 5 MB and 35 ms. Not by
// `process.getBuiltinModule`, which Node 22.0 to 22.2 do not have, and from a path that a bundle in CommonJS has too.
const load = createRequire(process.execPath);

export const http = load('node:http') as typeof Http;
export const https = load('node:https') as typeof Https;
