import { type MinimalResponse, respond } from '../petStore/minimalRoutes.ts';

// Bun's own server and nothing else, as minimal as `minimal`.

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly development: false;
    readonly fetch: (request: Request) => Response | Promise<Response>;
  }): unknown;
};

const toResponse = ({ status, body }: MinimalResponse) =>
  new Response(body, { status, headers: { 'content-type': 'application/json' } });

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
      readBody: () => incoming.text(),
    };
    const result = respond(request);
    return result instanceof Promise ? result.then(toResponse) : toResponse(result);
  },
});
