import { runInNewContext } from 'node:vm';

const language = runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[];

// Cloudflare Workers, Deno, Bun and browsers have them (WinterTC, Minimum Common Web API).
const web = (
  'AbortController AbortSignal Blob DOMException Event EventTarget File FormData Headers ' +
  'MessageChannel ReadableStream Request Response TextDecoder TextEncoder TransformStream URL ' +
  'URLSearchParams WritableStream console crypto performance queueMicrotask structuredClone'
).split(' ');

type Run = (task: () => void, ms?: number) => NodeJS.Timeout;
const timers = new Map<number, NodeJS.Timeout>();
const numbered = (set: Run) => (task: () => void, ms?: number) => {
  const timer = set(task, ms);
  timers.set(timers.size + 1, timer);
  return timers.size;
};
const cleared = (clear: (timer: NodeJS.Timeout | undefined) => void) => (id: number) => clear(timers.get(id));

const timersOfTheWeb = {
  setTimeout: numbered(setTimeout),
  setInterval: numbered(setInterval),
  clearTimeout: cleared(clearTimeout),
  clearInterval: cleared(clearInterval),
};

const webGlobals: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries([...language, ...web].map((name) => [name, Reflect.get(globalThis, name)])),
  ...timersOfTheWeb,
};

/**
 * Runs a script for which nothing is global but what every runtime has: ECMAScript's globals and those of the web.
 * Timers are numbers, as on the web.
 * @returns the variable that it declares with this name
 */
export function runWithWebGlobals(script: string, variable: string): unknown {
  const hidden = Object.getOwnPropertyNames(globalThis).filter((name) => !Object.hasOwn(webGlobals, name));
  const scope: Readonly<Record<string, unknown>> = { ...timersOfTheWeb, globalThis: webGlobals };
  const names = [...hidden, ...Object.keys(scope)];
  // oxlint-disable-next-line typescript/no-implied-eval -- parameters hide the globals of this process
  const run = new Function(...names, `${script}\nreturn ${variable};`) as (...values: unknown[]) => unknown;
  return run(...names.map((name) => scope[name]));
}
