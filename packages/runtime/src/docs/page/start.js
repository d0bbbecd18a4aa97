/* global Scalar -- the page loads it before this file */

// Relative, like every address of the page: a proxy may serve it below a path.
/** Whether a bearer token is the only credential of the document. */
let takesBearerAlone = false;

Scalar.createApiReference('#reference', {
  url: 'openapi.json',
  customFetch,
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // The file as it is served: the page's own copy is changed below.
  documentDownloadType: 'direct',
  showOperationId: true,
  // All that would send something to another host.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});

/** Scalar 1.72 loads the document by this function, and sends the requests that a visitor tries out. */
async function customFetch(input, init) {
  const request = new Request(input, init);
  const { url, headers } = request;
  if (url === new URL('openapi.json', location.href).href) {
    const response = await fetch(request);
    const loaded = await response.json();
    document.title = loaded.info.title;
    const schemes = Object.values(loaded.components?.securitySchemes ?? {});
    takesBearerAlone = schemes.length > 0 && schemes.every(({ scheme }) => scheme === 'bearer');
    return new Response(JSON.stringify(withoutFilters(loaded)), response);
  }
  // Scalar sends an empty token as `Bearer ` or with a placeholder of its own: the service would answer 401.
  if (takesBearerAlone && !/^Bearer (?!YOUR_SECRET_TOKEN$)\S/.test(headers.get('authorization') ?? ''))
    throw new Error('Enter an API key as the token first.');
  return fetch(request);
}

/** Scalar fills an optional parameter with the first value of its enum, and sends it. An empty example is not sent. */
function withoutFilters(loaded) {
  for (const operations of Object.values(loaded.paths)) {
    for (const { parameters = [] } of Object.values(operations)) {
      for (const parameter of parameters) {
        const { $ref = '', ...schema } = parameter.schema ?? {};
        const named = loaded.components?.schemas?.[$ref.split('/').at(-1)];
        if (parameter.in === 'query' && !parameter.required && 'enum' in { ...named, ...schema })
          parameter.example = '';
      }
    }
  }
  return loaded;
}
