import { type FetchServer, listenWithFetch } from '@petstore/testing/fetchServer';
import type { AWSLambdaProxyResult } from 'srvx';
import type { AwsLambdaEvent } from 'srvx/aws-lambda';
import { handler as ownHandler } from './handler.ts';

/** Serves a handler, by default `handler.ts`, as an HTTP API of API Gateway does, with events of version 2.0. */
export const startLambda = (port: number, handler = ownHandler): Promise<FetchServer> =>
  listenWithFetch(async (request, { remoteAddress }) => {
    const { host, pathname, search } = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    const { cookie, ...headers } = Object.fromEntries(request.headers) as { readonly cookie?: string };
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      ...(cookie !== undefined && { cookies: cookie.split('; ') }),
      headers: { ...headers, host },
      requestContext: { http: { method: request.method, path: pathname, sourceIp: remoteAddress } },
      ...(body.length > 0 && { body: body.toString('base64') }),
      isBase64Encoded: body.length > 0,
    };
    const result = (await handler(event as AwsLambdaEvent, {} as never)) as AWSLambdaProxyResult;
    return new Response(Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8'), {
      status: result.statusCode,
      headers: result.headers as Record<string, string>,
    });
  }, port);
