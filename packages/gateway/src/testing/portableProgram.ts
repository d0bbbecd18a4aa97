import { createPortableGateway, endedTicks } from './portableCalls.ts';

// Created outside a request, where workerd allows neither timers nor random values.
const gateway = await createPortableGateway();

export default {
  fetch(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/procedures') return Response.json(gateway.procedures);
    if (pathname === '/ended-ticks') return Response.json(endedTicks);
    return gateway.fetch(request, { remoteAddress: '192.0.2.1' });
  },
};
