/**
 * Makes Node load the older of the two packages of uWebSockets.js: `node --import .../olderUws.ts` rejects the import of
 * `@uwsjs/core` in the process and, through NODE_OPTIONS, in its children.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@uwsjs/core') throw new Error('olderUws.ts rejects @uwsjs/core.');
    return next(specifier, context);
  },
});
