/*
 * `npm run example [rpc|http|curl|shelter|login|answers]`: runs an example. The pet store examples start a temporary, empty pet
 * store, or use the one at `PETSTORE_URL` with the API key `KEY`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPetStore } from './petStore/startPetStore.ts';

const node = (name: string) => [process.execPath, '--conditions=trpc-gateway-source', pathOf(name)];
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const commands: Readonly<Record<string, readonly string[]>> = {
  rpc: node('petStore/rpc.ts'),
  http: node('petStore/http.ts'),
  curl: ['bash', pathOf('petStore/curl.sh')],
  shelter: node('../shelter/dev.ts'),
  login: node('oneLogin/main.ts'),
  answers: node('answers/main.ts'),
};

/** The examples that start a service of their own. */
const services: ReadonlySet<string> = new Set(['shelter', 'login', 'answers']);

async function run([file = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = spawn(file, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  [process.exitCode = 1] = (await once(child, 'exit')) as [number | null];
}

async function withPetStore(command: readonly string[]): Promise<void> {
  if (process.env['PETSTORE_URL'] !== undefined) return run(command);
  const { origin, key, close } = await startPetStore();
  try {
    await run(command, { PETSTORE_URL: origin, KEY: key });
  } finally {
    await close();
  }
}

const [name] = process.argv.slice(2);
const command = commands[name ?? ''];
const usage = `npm run example ${Object.keys(commands).join('|')}`;
if (name !== undefined && services.has(name) && command) await run(command);
else if (command) await withPetStore(command);
else if (name === undefined) console.log(usage);
else {
  console.error(`There is no example ${name}: ${usage}`);
  process.exitCode = 2;
}
