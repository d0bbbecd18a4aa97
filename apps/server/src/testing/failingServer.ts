import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { stopOnSignals } from '@petstore/runtime/signals';
import { startServer } from '../app.ts';
import { readConfiguration } from '../configuration.ts';
import { errorText } from '../errorText.ts';
import { storeFault, storeFaults } from './storeFaults.ts';

// A server one of whose store's methods, FAILING, fails before it does anything: with each fault twice, then no more.
const failing = process.env['FAILING'];
const faults = [...storeFaults, ...storeFaults];

/** Methods that may answer at once, and so throw; the others answer with promises. */
const immediate = new Set(['get', 'list', 'ready', 'keys.find', 'keys.list']);

/** The same object, whose method of that name fails. */
function failingAt<T extends object>(target: T, prefix: string): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name);
      if (typeof member === 'object' && member !== null) return failingAt(member, `${String(name)}.`);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const method = `${prefix}${String(name)}`;
        const fault = method === failing ? faults.shift() : undefined;
        if (fault !== undefined && immediate.has(method)) throw storeFault(fault);
        if (fault !== undefined) return Promise.reject(storeFault(fault));
        const result: unknown = Reflect.apply(member, object, args);
        return name === 'collection' ? failingAt(result as object, '') : result;
      };
    },
  });
}

const starting = startServer(readConfiguration(process.env), {
  openStore: async ({ DATA_DIR }) => failingAt(await openEmbeddedStore({ dataDir: DATA_DIR }), ''),
});
stopOnSignals(starting);
try {
  await starting;
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(1);
}
