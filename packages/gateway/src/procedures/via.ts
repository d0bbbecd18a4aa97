/** A client, as it describes itself: any client can send any name, so no rule may depend on it. */
export interface DeclaredClient {
  /** 1 to 256 characters, without control characters and lone surrogates: safe in a log. */
  readonly name: string;
  /** As `name`. `undefined` for a `User-Agent`, of which `name` has the whole text. */
  readonly version: string | undefined;
}

/** Through what a caller acts; `identity` is on whose behalf. The members are read from the request when they are used. */
export interface Via {
  /** `mcp`: the caller is an agent. */
  readonly protocol: 'rest' | 'trpc' | 'mcp' | 'other';
  /** The name of the called tool; `undefined` over other protocols, and for an unknown tool. */
  readonly tool: string | undefined;
  /**
   * The client: over MCP its `clientInfo`, otherwise its `User-Agent`; `undefined` without either. Since 2026-07-28, most
   * messages of MCP have `clientInfo`. Before, only `initialize` has it, and sessions do not exist, so that a call has the
   * `User-Agent`.
   */
  readonly client: DeclaredClient | undefined;
  /**
   * The OAuth client to which the verified token of `jwt()` was issued: the claim `client_id` (RFC 9068 §2.2), or `azp`
   * (OpenID Connect Core §2). `undefined` without such a claim, and for other credentials.
   */
  readonly oauthClient: string | undefined;
}
