// A certificate authority for tests: makes keys and certificates by role in memory, and files of
// them where a program needs files. No test shares one, so none depends on another's.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "common/rpc/tls_material.h"
#include "houtu/v1/config.pb.h"

namespace houtu {

/// Keys are P-256, certificates valid from an hour ago for a day. Aborts where OpenSSL fails.
class TestPki {
 public:
  TestPki();

  /// A certificate whose URI name is `role_uri` ("houtu:client/alice"), valid for 127.0.0.1 and
  /// localhost, with its key and the CA.
  TlsMaterial Issue(const std::string& role_uri);

  /// Issue, written to DIR/NAME.crt, DIR/NAME.key (mode 0600) and DIR/ca.crt.
  v1::Tls IssueFiles(const std::string& role_uri, const std::string& dir, const std::string& name);

 private:
  struct KeyDeleter {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  struct CertificateDeleter {
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;
  using Certificate = std::unique_ptr<X509, CertificateDeleter>;

  static Key NewKey();
  /// A certificate for `key` named `subject`, with the extensions, signed by the CA's key.
  Certificate Sign(EVP_PKEY* key, const std::string& subject, const std::string& basic_constraints,
                   const std::string& alternative_names);

  Key ca_key_;
  Certificate ca_;
  long next_serial_ = 1;
};

}  // namespace houtu
