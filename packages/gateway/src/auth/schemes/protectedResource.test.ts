import { expect, it } from 'vitest';
import { headersOf } from '../../http/response.ts';
import { inProcessRequest } from '../../testing/inProcessRequest.ts';
import { bearer } from './bearer.ts';
import { jwt } from './jwt.ts';
import type { ProtectedResourceOptions } from './bearer.ts';
import { t, testGateway } from '../../testing/testGateway.ts';

const router = t.router({
  write: t.procedure.meta({ scopes: ['notes:read', 'notes:write'] }).mutation(() => 1),
  read: t.procedure.meta({ scopes: ['notes:read'] }).query(() => 1),
});

const authorizationServers = ['https://login.example'];

const gatewayOf = (options: Partial<ProtectedResourceOptions>, routes = {}) =>
  testGateway(router, {
    authentication: bearer({
      verify: () => undefined,
      scopes: () => [],
      protectedResource: { resource: 'https://api.example', authorizationServers, ...options },
    }),
    routes,
  });

it.each([
  ['https://api.example', '/.well-known/oauth-protected-resource'],
  ['https://api.example/', '/.well-known/oauth-protected-resource'],
  ['https://api.example/notes', '/.well-known/oauth-protected-resource/notes'],
  ['https://api.example:8443/a/b', '/.well-known/oauth-protected-resource/a/b'],
])(
  'the metadata of the resource %s is served at %s, and challenges have its URL (RFC 9728 §3.1, §5.1)',
  async (resource, path) => {
    const gateway = await gatewayOf({ resource });
    const response = await gateway.handle(inProcessRequest('GET', path));
    expect([response.status, JSON.parse(response.body as string)]).toEqual([
      200,
      {
        resource,
        authorization_servers: authorizationServers,
        scopes_supported: ['notes:read', 'notes:write'],
        bearer_methods_supported: ['header'],
      },
    ]);
    expect(Object.fromEntries(headersOf(response))).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
    });
    const rejected = await gateway.handle(inProcessRequest('GET', '/trpc/read'));
    expect(Object.fromEntries(headersOf(rejected))['www-authenticate']).toBe(
      `Bearer realm="api", resource_metadata="${new URL(resource).origin}${path}"`,
    );
  },
);

it('the authorization server in the metadata of jwt is its issuer by default', () => {
  const options = { issuer: 'https://login.example', audience: 'a', jwksUri: 'https://login.example/jwks' };
  const serversOf = (more: object) => {
    const scheme = jwt({ ...options, protectedResource: { resource: 'https://api.example', ...more } });
    return scheme.protectedResource?.document([]);
  };
  expect(serversOf({})).toMatchObject({ authorization_servers: ['https://login.example'] });
  expect(serversOf({ authorizationServers: ['https://other.example'] })).toMatchObject({
    authorization_servers: ['https://other.example'],
  });
});

it.each(['/notes', 'api.example', 'ftp://api.example', 'https://api.example?a=1', 'https://api.example/#a'])(
  'createGateway rejects protectedResource.resource: %j',
  async (resource) => {
    await expect(async () => gatewayOf({ resource })).rejects.toThrow(
      `bearer.protectedResource.resource is "${resource}"; it must be an https URL without query and fragment`,
    );
  },
);

it('createGateway rejects a route at the path of the metadata', async () => {
  const page = () => ({ status: 200, headers: [] });
  await expect(gatewayOf({}, { '/.well-known/oauth-protected-resource': page })).rejects.toThrow(
    'is served twice: by routes, document.path, mcp or the metadata of a protected resource',
  );
});
