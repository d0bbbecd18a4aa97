import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { stopOnSignals } from 'trpc-gateway-runtime/signals';
import { startServer } from '../app.ts';
import { readConfiguration } from '../configuration.ts';
import { formatError } from '../formatError.ts';
import { storeFault, storeFaults } from './storeFaults.ts';

// A server with a store method (FAILING) that fails before it has an effect: with each injected fault twice, then never.
const failingMethod = process.env['FAILING'];
const faults = [...storeFaults, ...storeFaults];

/** Methods that may return synchronously, and so throw. The others return promises. */
const synchronousMethods = new Set(['get', 'list', 'ready', 'keys.find', 'keys.list']);

/** Returns a proxy of the object with the failing method. */
function failingAt<T extends object>(target: T, prefix: string): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name);
      if (typeof member === 'object' && member !== null) return failingAt(member, `${String(name)}.`);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const method = `${prefix}${String(name)}`;
        const fault = method === failingMethod ? faults.shift() : undefined;
        if (fault !== undefined && synchronousMethods.has(method)) throw storeFault(fault);
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
  process.stderr.write(`${formatError(error)}\n`);
  process.exit(1);
}
