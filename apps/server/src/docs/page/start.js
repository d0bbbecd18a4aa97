/* global Scalar -- the page loads it before this file */

// Relative, like every address of the page: a proxy may serve it below a path.
Scalar.createApiReference('#reference', {
  url: 'openapi.json',
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'json',
  showOperationId: true,
  // All that would send something to another host.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});
