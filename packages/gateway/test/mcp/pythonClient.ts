import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { serve } from 'trpc-gateway/node';
import { createProtectedToolGateway } from './toolRouter.ts';

/** `pythonClient.ts PYTHON`: runs `pythonClient.py` in the virtual environment PYTHON, and exits with its code. */

const [python] = process.argv.slice(2);
if (python === undefined) throw new Error('Name the virtual environment of the client.');

const client = fileURLToPath(new URL('pythonClient.py', import.meta.url));
const { gateway } = await createProtectedToolGateway();
const server = await serve(gateway, { port: 0 });
const args = [client, `http://127.0.0.1:${server.port}/mcp`];
const child = spawn(`${python}/bin/python`, args, { stdio: 'inherit' });
const [code] = (await once(child, 'close')) as [number | null];
process.exitCode = code ?? 1;
await server.close();
