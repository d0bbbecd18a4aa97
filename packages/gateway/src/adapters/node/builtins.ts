import type * as Http from 'node:http';
import type * as Https from 'node:https';
// Under another name, since a bundle may have a banner that declares `createRequire`.
import { createRequire as createModuleRequire } from 'node:module';

// By `require`: Node reads every export of an imported built-in, which loads undici for these two (5 MB, 35 ms). Node
// 22.0 to 22.2 lack `process.getBuiltinModule`, and CommonJS bundles `import.meta.url`.
const requireBuiltin = createModuleRequire(process.execPath);

export const http = requireBuiltin('node:http') as typeof Http;
export const https = requireBuiltin('node:https') as typeof Https;
