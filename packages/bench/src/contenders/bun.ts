import { respond } from '../petStore/minimalRoutes.ts';
import { after, type MaybePromise } from '../petStore/resolvers.ts';

// Bun's own server and nothing else, as minimal as `minimal`.

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly development: false;
    readonly fetch: (request: Request) => MaybePromise<Response>;
  }): unknown;
};

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT']),
  development: false,
  fetch(incoming) {
    const { headers, method, url } = incoming;
    const request = {
      method,
      target: url.slice(url.indexOf('/', 'http://'.length)),
      authorization: headers.get('authorization'),
      takesLines: headers.get('trpc-accept') === 'application/jsonl',
      readBody: () => incoming.text(),
    };
    return after(
      respond(request),
      ({ status, body, type = 'application/json' }) =>
        new Response(body, { status, headers: { 'content-type': type } }),
    );
  },
});
