import { GatewayError } from './gatewayError.ts';

// Every entry point for servers imports this module first, so that an old Node fails with this sentence, not with the
// first function that it lacks. It checks for such functions (ES2024) because versions of other runtimes say nothing.
if (!('groupBy' in Map && 'withResolvers' in Promise)) {
  const { process } = globalThis as { readonly process?: { readonly version?: string } };
  throw new GatewayError(
    `trpc-gateway needs Node 22.12 or newer, and this is ${process?.version ?? 'an older runtime'}. Update Node.`,
  );
}
