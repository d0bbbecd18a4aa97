// The shelter with an issuer of its own, which gives everyone on this machine any token.
import { startIssuer } from './issuer.ts';

const { accepts } = await startIssuer(Number(process.env['ISSUER_PORT'] ?? 3003));
Object.assign(process.env, {
  ISSUER: accepts.issuer,
  AUDIENCE: accepts.audience,
  JWKS_URI: accepts.jwksUri,
});
await import('./main.ts');
