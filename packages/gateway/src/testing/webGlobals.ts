import { runInNewContext } from 'node:vm';

const languageGlobals = runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[];

// Globals of Cloudflare Workers, Deno, Bun and browsers (WinterTC, Minimum Common Web API).
const sharedGlobals = (
  'AbortController AbortSignal Blob DOMException Event EventTarget File FormData Headers ' +
  'MessageChannel ReadableStream Request Response TextDecoder TextEncoder TransformStream URL ' +
  'URLSearchParams WritableStream console crypto performance queueMicrotask structuredClone'
).split(' ');

type SetTimer = (task: () => void, ms?: number) => NodeJS.Timeout;
const timers = new Map<number, NodeJS.Timeout>();
const setNumberedTimer = (set: SetTimer) => (task: () => void, ms?: number) => {
  const timer = set(task, ms);
  timers.set(timers.size + 1, timer);
  return timers.size;
};
const clearNumberedTimer = (clear: (timer: NodeJS.Timeout | undefined) => void) => (id: number) =>
  clear(timers.get(id));

const webTimers = {
  setTimeout: setNumberedTimer(setTimeout),
  setInterval: setNumberedTimer(setInterval),
  clearTimeout: clearNumberedTimer(clearTimeout),
  clearInterval: clearNumberedTimer(clearInterval),
};

const webGlobals: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    [...languageGlobals, ...sharedGlobals].map((name) => [name, Reflect.get(globalThis, name)]),
  ),
  ...webTimers,
};

/**
 * Runs a script with only the globals that every runtime has: those of ECMAScript and of the web. Timers are numbers,
 * as on the web.
 * @returns the value of the variable that the script declares
 */
export function runWithWebGlobals(script: string, variable: string): unknown {
  const hidden = Object.getOwnPropertyNames(globalThis).filter((name) => !Object.hasOwn(webGlobals, name));
  const scope: Readonly<Record<string, unknown>> = { ...webTimers, globalThis: webGlobals };
  const names = [...hidden, ...Object.keys(scope)];
  // oxlint-disable-next-line typescript/no-implied-eval -- parameters shadow the globals of this process
  const run = new Function(...names, `${script}\nreturn ${variable};`) as (...values: unknown[]) => unknown;
  return run(...names.map((name) => scope[name]));
}
