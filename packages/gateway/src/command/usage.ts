/** What a command prints, and the code with which the process exits; `undefined` if it goes on running. */
export interface CommandResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code: number | undefined;
}

export const usage = `Usage: trpc-gateway serve FILE [options]

Serves a router over tRPC, REST and MCP on this machine, and prints what differs from tRPC and what is left out. For
looking, moving and demonstrations, not for production.

  FILE                   The module that exports the router, in TypeScript or JavaScript.
  --export NAME          The name of the exported router. Default: the only one, or else default or appRouter.
  --context FILE         The module that exports createContext. It is called with what tRPC's adapters give: req, res,
                         resHeaders, headers and info, and with c of Hono. Default: the context is {}.
  --context-export NAME  The name of the function. Default: createContext, createTRPCContext, default, or the only one.
  --env FILE             Reads environment variables before the modules are loaded. May be repeated.
  --port PORT            0 chooses a free port. Default: 3000.
  --no-types             Leaves the types of outputs without a schema unread, which trpc-gateway-typegen reads if it is installed.
  --tools                Prints how many tokens each tool takes.
`;

/** Whether an error is one of `parseArgs` of node:util. */
export const isArgumentError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
