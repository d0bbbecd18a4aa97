import { createPortableGateway } from './portableCalls.ts';

// Created outside a request, where workerd allows neither timers nor random values.
const gateway = await createPortableGateway();

export default {
  fetch: (request: Request): Response | Promise<Response> =>
    new URL(request.url).pathname === '/procedures'
      ? Response.json(gateway.procedures)
      : gateway.fetch(request, { remoteAddress: '192.0.2.1' }),
};
