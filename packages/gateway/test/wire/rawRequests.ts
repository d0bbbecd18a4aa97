// Requests, and parts of requests, of which the cases and the fuzzer build their bytes.

const head = (line: string, headers: string) => `${line}\r\n${headers}\r\n`;

/** A GET of the list. `headers` are further header lines, each with its CRLF. */
export const get = (headers = '', target = '/v1/pets'): string =>
  head(`GET ${target} HTTP/1.1`, `Host: x\r\n${headers}`);

/** A POST that creates an animal. `headers` are the header lines that declare the length of the body. */
export const post = (headers: string, body: string): string =>
  head('POST /v1/pets HTTP/1.1', `Host: x\r\nContent-Type: application/json\r\n${headers}`) + body;

/** An animal, 27 bytes. */
export const pet = '{"name":"a","categoryId":1}';
export const petLength = `Content-Length: ${pet.length}\r\n`;
export const chunkedPet = `1b\r\n${pet}\r\n0\r\n\r\n`;
export const chunked = 'Transfer-Encoding: chunked\r\n';

export const list = 'GET /v1/pets';
export const create = 'POST /v1/pets';

/** A request that must never run if it is part of a body. */
export const smuggled = get('', '/smuggled');
export const smuggledName = 'smuggled';
const smuggledPet = `{"name":"${smuggledName}","categoryId":1}`;
/** A create that must never run if it is part of a body. If it does, the store shows it. */
export const smuggledCreate = post(`Content-Length: ${smuggledPet.length}\r\n`, smuggledPet);
