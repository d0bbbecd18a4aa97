/** Counts functions, files and changes of the file per request. `npm run trace -- get` prints functions. */
import { startCallLog } from './callLog.ts';

// Loads the gateway, and so must follow callLog.ts.
const { requestNames, sendRequest, stop } = await import('./requests.ts');

// The adapter checks one small response in eight for backpressure. The log shows the others.
Math.random = () => 0.5;

const row = (...columns: readonly (string | number)[]) =>
  columns
    .map((column) => String(column).padEnd(8))
    .join('')
    .trimEnd();

const [, , only] = process.argv;
const functions: string[] = [];
const counts: string[] = [];
for (const request of requestNames.filter((name) => only === undefined || only === name)) {
  // What is created at the first use is not part of each request.
  for (let warmUps = 3; warmUps > 0; warmUps -= 1) await sendRequest(request);
  const endCallLog = startCallLog();
  await sendRequest(request);
  const log = endCallLog();
  const files = log.map((entered) => entered.slice(0, entered.indexOf(':')));
  const hops = files.filter((file, at) => at > 0 && file !== files[at - 1]);
  counts.push(row(request, log.length, new Set(files).size, hops.length));
  if (only === request) functions.push(...log);
}
await stop();

if (counts.length === 0) throw new Error(`"${only}" is not one of: ${requestNames.join(', ')}.`);
const lines = [...functions, row('request', 'calls', 'files', 'hops'), ...counts];
process.stdout.write(`${lines.join('\n')}\n`);
