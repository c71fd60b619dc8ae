#include "tests/common/rpc/test_pki.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "common/base/check.h"

namespace houtu {
namespace {

constexpr long kHourSeconds = 3600;
constexpr long kDaySeconds = 24 * kHourSeconds;

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  HOUTU_CHECK(extension != nullptr, "the extension is well-formed: " + value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

template <typename Write>
std::string ToPem(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  HOUTU_CHECK(write(bio) == 1, "OpenSSL writes PEM to memory");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

std::string CertificatePem(X509* certificate) {
  return ToPem([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

void WriteOwnerOnly(const std::string& path, const std::string& text) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  HOUTU_CHECK(fd >= 0, "the test's folder is writable: " + path);
  HOUTU_CHECK(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
              "the file takes the text");
  ::close(fd);
}

}  // namespace

TestPki::TestPki() : ca_key_(NewKey()) {
  ca_ = Sign(ca_key_.get(), "houtu test CA", "critical,CA:TRUE", "");
}

TestPki::Key TestPki::NewKey() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  HOUTU_CHECK(key != nullptr, "OpenSSL makes a P-256 key");
  return Key(key);
}

TestPki::Certificate TestPki::Sign(EVP_PKEY* key, const std::string& subject,
                                   const std::string& basic_constraints,
                                   const std::string& alternative_names) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), next_serial_++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHourSeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDaySeconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  X509* issuer = ca_ == nullptr ? certificate.get() : ca_.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  AddExtension(certificate.get(), issuer, NID_basic_constraints, basic_constraints);
  if (!alternative_names.empty()) {
    AddExtension(certificate.get(), issuer, NID_subject_alt_name, alternative_names);
  }
  HOUTU_CHECK(X509_sign(certificate.get(), ca_key_.get(), EVP_sha256()) > 0, "the CA signs");
  return certificate;
}

TlsMaterial TestPki::Issue(const std::string& role_uri) {
  const Key key = NewKey();
  const Certificate certificate =
      Sign(key.get(), role_uri, "CA:FALSE", "URI:" + role_uri + ",IP:127.0.0.1,DNS:localhost");
  return {.ca = CertificatePem(ca_.get()),
          .certificate = CertificatePem(certificate.get()),
          .key = ToPem([&key](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

v1::Tls TestPki::IssueFiles(const std::string& role_uri, const std::string& dir,
                            const std::string& name) {
  const TlsMaterial material = Issue(role_uri);
  v1::Tls tls;
  tls.set_ca(dir + "/ca.crt");
  tls.set_certificate(dir + "/" + name + ".crt");
  tls.set_key(dir + "/" + name + ".key");
  WriteOwnerOnly(tls.ca(), material.ca);
  WriteOwnerOnly(tls.certificate(), material.certificate);
  WriteOwnerOnly(tls.key(), material.key);
  return tls;
}

}  // namespace houtu
