import { hasUws } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import * as client from './client/index.ts';
import * as root from './index.ts';
import * as options from './checks/index.ts';
import * as meta from './procedures.ts';
import * as trpcToOpenApi from './trpcToOpenApi/trpcToOpenApi.ts';
import * as bun from './adapters/bun/serve.ts';
import * as ofAdapters from './adapters/serve/index.ts';

it('the entry points export exactly these values', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'GatewayError',
    'ResponseControls',
    'apiKey',
    'bearer',
    'cookie',
    'createGateway',
    'custom',
    'memoryState',
    'problemDetails',
    'takeTokens',
  ]);
  expect(Object.keys(client)).toEqual(['callHeaders', 'hasIdempotencyKey', 'safeRetryLink']);
  expect(Object.keys(meta)).toEqual([
    'apiErrorSchema',
    'declareErrors',
    'resyncDefinition',
    'resyncErrors',
    'isTrpcError',
    'LimitError',
  ]);
  expect(Object.keys(options).toSorted()).toEqual([
    'editDistance',
    'formatValue',
    'optionProblems',
    'optional',
    'required',
  ]);
  expect(Object.keys(ofAdapters).toSorted()).toEqual([
    'CertificateError',
    'ListenError',
    'reservePort',
    'serveRules',
  ]);
  expect(Object.keys(trpcToOpenApi).toSorted()).toEqual(['trpcToOpenApi', 'trpcToOpenApiErrors']);
  const ofServer = ['CertificateError', 'ListenError', 'reservePort', 'serve'];
  expect(Object.keys(bun).toSorted()).toEqual(ofServer);
});

it.skipIf(!hasUws)('trpc-gateway/uws exports exactly these values', async () => {
  const uws = Object.keys(await import('./adapters/uws/serve.ts'));
  expect(uws.toSorted()).toEqual(['CertificateError', 'ListenError', 'reservePort', 'serve', 'uwsVersion']);
});
