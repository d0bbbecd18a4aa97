import type * as Http from 'node:http';
import type * as Https from 'node:https';
// Under another name, since a bundle may have a banner that declares `createRequire`.
import { createRequire as createModuleRequire } from 'node:module';

// Loaded by `require`: Node reads every export of an imported built-in, which for these two loads undici (5 MB, 35 ms).
// `process.getBuiltinModule` is missing in Node 22.0 to 22.2. `process.execPath` also works in a CommonJS bundle, which
// has no `import.meta.url`.
const requireBuiltin = createModuleRequire(process.execPath);

export const http = requireBuiltin('node:http') as typeof Http;
export const https = requireBuiltin('node:https') as typeof Https;
