/* global Scalar -- the page loads it before this file */

// It is relative in the page: a proxy may serve both below a path.
const documentUrl = new URL(document.currentScript.dataset.document, location.href).href;
/** True if bearer tokens are the only security scheme of the document. */
let takesBearerAlone = false;

Scalar.createApiReference('#reference', {
  url: documentUrl,
  customFetch,
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Downloads the document as served: the page's copy is changed below.
  documentDownloadType: 'direct',
  showOperationId: true,
  // Everything that would send a request to another host is off.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});

/** Scalar 1.72 calls it to load the document and to send the requests that a user tries out. */
async function customFetch(input, init) {
  const request = new Request(input, init);
  const { url, headers } = request;
  if (url === documentUrl) {
    const response = await fetch(request);
    const loaded = await response.json();
    document.title = loaded.info.title;
    const schemes = Object.values(loaded.components?.securitySchemes ?? {});
    takesBearerAlone = schemes.length > 0 && schemes.every(({ scheme }) => scheme === 'bearer');
    return new Response(JSON.stringify(withoutFilters(loaded)), response);
  }
  // For an empty token Scalar sends `Bearer ` or a placeholder, and the service would answer 401.
  if (takesBearerAlone && !/^Bearer (?!YOUR_SECRET_TOKEN$)\S/.test(headers.get('authorization') ?? ''))
    throw new Error('Enter an API key as the token first.');
  return fetch(request);
}

/** Scalar sends the first enum value of an optional query parameter by default. An empty example prevents that. */
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
