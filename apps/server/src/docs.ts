import type { GatewayResponse } from '@petstore/gateway';

// For people who follow the link that every answer of getPet carries (RFC 9745 §3). Its own is relative: a proxy may
// serve it below a path.
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pet Store</title>
<h1>Pet Store</h1>
<p>Animals that are available for adoption in a store. <a href="openapi.json">The OpenAPI document</a> describes every
input and answer.</p>
<dl>
<dt><code>GET /v1/pets</code> (listPets)</dt>
<dd>Lists animals in ascending order of id, page by page, optionally of one status.</dd>
<dt><code>POST /v1/pets</code> (createPet)</dt>
<dd>Adds an animal. The service assigns its id.</dd>
<dt><code>GET /v1/pets/{petId}</code> (getPet), deprecated</dt>
<dd>Gets one animal by its id.</dd>
</dl>
<h2 id="deprecation">What is deprecated</h2>
<p>getPet is deprecated since <time datetime="2026-11-20">20 November 2026</time> and goes on
<time datetime="2030-12-05">5 December 2030</time>. Use listPets with its <code>status</code> filter instead:
<code>GET /v1/pets?status=available</code>.</p>
</html>
`;

/** `/docs`: what the service is, and what is deprecated. */
export const docsRoutes = {
  '/docs': (): GatewayResponse => ({
    status: 200,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      // It has no script, style or image, and needs none.
      [
        'content-security-policy',
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ],
      ['x-content-type-options', 'nosniff'],
    ],
    body: page,
  }),
};
