import type * as Uws from '@uwsjs/core';

// Read once, when the addon loads: a batch of 100 queries is longer than the 4,096 bytes it would take.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384';

/** The package of uWebSockets.js that the gateway prefers too, or else the older one. */
export const { App }: typeof Uws = await import('@uwsjs/core').catch(
  () => import('uWebSockets.js') as Promise<unknown> as Promise<typeof Uws>,
);
