import { TRPCError } from '@trpc/server';
import type { RequestPolicy } from '../calls/requestContext.ts';
import type { HttpRequest } from '../http/request.ts';
import { passesOriginCheck, type OriginCheck } from './origins.ts';

/** The error for a request that a page of another site sent with a credential that the browser added. */
export const crossSiteError = new TRPCError({
  code: 'FORBIDDEN',
  message:
    "Pages of other sites are not allowed to send requests with their visitors' credentials. To allow the pages of an origin, add it to cors.origins and set cors.credentials.",
});

/**
 * Creates the policy of a gateway without `authentication`, whose router may check credentials in its middlewares. It
 * rejects what a page of another site can forge with them (CSRF): a request that can change state, that has a credential
 * that browsers add, and that browsers send without a CORS preflight. A public operation is exempt, and so are pages of
 * sibling subdomains (`same-site`), whose requests have `SameSite` cookies too. `createSocketOrigins` checks WebSockets.
 */
export const crossSitePolicy = (allowsCredentials: OriginCheck): RequestPolicy => ({
  admit(context) {
    const { request, target } = context;
    // A `POST` of JSON reads one header, which its protocol reads too.
    if (request.method !== 'POST' || target.isPublic || !isSimple(request)) return undefined;
    const isAllowed =
      request.header('sec-fetch-site') === 'same-site' || passesOriginCheck(allowsCredentials, context);
    // Last, since it reads all headers.
    return isAllowed || !hasAmbientCredential(request) ? undefined : crossSiteError;
  },
});

/** Whether browsers let a page of another origin send a `POST` without a preflight (WHATWG Fetch §2.2.2, §4.1). */
function isSimple(request: HttpRequest): boolean {
  const type = request.header('content-type');
  return type === undefined || (type !== 'application/json' && isFormType(type));
}

/** Whether pages may send a media type without a preflight: those of HTML forms. */
export const isFormType = (type: string): boolean => formType.test(type);

const formType =
  /^[\t\n\r ]*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)[\t\n\r ]*(?:;|$)/i;

/** Whether a request has a credential that browsers add by themselves. They do not add bearer tokens and API keys. */
function hasAmbientCredential(request: HttpRequest): boolean {
  if (request.header('cookie') !== undefined) return true;
  if (storedPassword.test(request.header('authorization') ?? '')) return true;
  for (const [name, value] of request.headers())
    if (value !== '' && clientCertificate.test(name)) return true;
  return false;
}

/** The schemes of HTTP authentication whose credentials browsers store. */
const storedPassword = /^(?:basic|digest|negotiate|ntlm)(?: |$)/i;

/** The header in which a proxy forwards a client certificate: `Client-Cert` (RFC 9440) and the names that proxies use. */
const clientCertificate = /client-?cert(?:-chain|-leaf)?$/;
