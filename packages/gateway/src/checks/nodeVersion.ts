// Imported by gatewayError.ts, which every entry point for servers loads, and by errorCodes.ts, which needs `Map.groupBy` at
// once. It looks for functions of ES2024, since the versions of other runtimes say nothing.
if (!('groupBy' in Map && 'withResolvers' in Promise)) {
  const { process } = globalThis as { readonly process?: { readonly version?: string } };
  throw new Error(
    `trpc-gateway needs Node 22.14 or newer, and this is ${process?.version ?? 'an older runtime'}. Update Node.`,
  );
}
