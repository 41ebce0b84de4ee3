import { useEffect, useState } from 'react';

/** Object URL of a blob for images and media elements; revoked when the component unmounts. */
export function useObjectUrl(bytes: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (bytes === undefined) return setAddress(undefined);
    const made = URL.createObjectURL(bytes);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  return address;
}
